import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { settingNames } from '../src/config.ts';
import { ERRORS } from '../src/errors.ts';
import { LIMITS } from '../src/graphql/limits.ts';
import { printedSchema } from '../src/schema/schema.ts';
import { ROOT, tracked } from './support/tracked-files.ts';

const sources = tracked.filter((path) => path.startsWith('src/'));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const readJson = (path: string): any => JSON.parse(read(path));

/** The lines of the tracked text files that match, as `file:line`. */
const linesWith = (pattern: RegExp): string[] =>
  tracked
    .map((path) => ({ path, text: read(path) }))
    .filter(({ text }) => !text.includes('\0') && pattern.test(text))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
    );

describe('the house', () => {
  test('schema.graphql is what the code prints', async () => {
    // The test of the command writes it anew, perhaps just now.
    await expect.poll(() => read('schema.graphql'), { timeout: 5000 }).toBe(printedSchema());
  });

  test('a source file is read in one sitting: 200 lines at most', () => {
    const lines = (path: string) => read(path).trimEnd().split('\n').length;
    expect(sources.filter((path) => lines(path) > 200)).toEqual([]);
  });

  test('basenames in src are unique, and say something', () => {
    const names = sources.map((path) => basename(path));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names.filter((name) => /^(?:index|utils?|helpers?|types?|common)\.\w+$/.test(name))).toEqual([]);
  });

  test('the database says in its own words what an error means: it knows no refusal of the APIs', () => {
    const imported = sources
      .filter((path) => path.startsWith('src/database/'))
      .flatMap((path) =>
        [...read(path).matchAll(/import ([^;]+) from '[./]+\/errors\.ts'/g)].map(([, names]) => names),
      );
    expect(new Set(imported)).toEqual(new Set(['{ DatabaseFault }']));
  });

  test('every npm command of the documents exists', () => {
    const { scripts } = readJson('package.json');
    const documents = tracked.filter((path) => path.endsWith('.md') && !path.startsWith('bench/'));
    const named = documents.flatMap((path) =>
      [...read(path).matchAll(/\bnpm (?:run (?:-s )?([\w:]+)|(start|test)\b)/g)].map(
        (match) => match[1] ?? match[2] ?? '',
      ),
    );
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    expect(named.length).toBeGreaterThan(5);
  });

  test('every setting has its row in the README', () => {
    const rows = [...read('README.md').matchAll(/^\| (`[A-Z_` /]+) \|/gm)].flatMap(([, cell = '']) =>
      cell.match(/[A-Z_]+/g),
    );
    expect(settingNames().filter((name) => !rows.includes(name))).toEqual([]);
  });

  test('every code of a refusal, and of a limit, stands in docs/errors.md', () => {
    const told = read('docs/errors.md');
    const codes = [
      ...Object.entries(ERRORS).flatMap(([code, { graphql }]) => [code, graphql]),
      ...Object.values(LIMITS).map(({ code }) => code),
    ];
    expect(codes.filter((code) => !told.includes(`\`${code}\``))).toEqual([]);
  });

  test('every dependency is named with its reason', () => {
    const { dependencies, devDependencies } = readJson('package.json');
    const told = read('docs/dependencies.md');
    const names = Object.keys({ ...dependencies, ...devDependencies });
    expect(names.filter((name) => !told.includes(`\`${name}\``))).toEqual([]);
  });

  test('nothing names the machine or the registry that it was made with', () => {
    expect(linesWith(/(?<![\w.])\/(?:work|root)\/\w/)).toEqual([]);
    expect(linesWith(/"resolved"\s*:|registry\.[\w.-]+\.(?:org|com|net|io|dev)\b|^\/\/.*:_auth|^registry\s?=/)).toEqual(
      [],
    );
  });

  test('every link of the documents leads somewhere, to a heading where it names one', () => {
    const broken = tracked
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) =>
        [...read(path).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
          .filter(([, target = '', heading]) => !leads(target === '' ? path : join(path, '..', target), heading))
          .map(([link]) => `${path} → ${link}`),
      );
    expect(broken).toEqual([]);
  });
});

function leads(path: string, heading: string | undefined): boolean {
  if (!existsSync(join(ROOT, path))) return false;
  return heading === undefined || !path.endsWith('.md') || anchors(read(path)).includes(heading);
}

/** The names that GitHub gives the headings of a document. */
function anchors(document: string): string[] {
  const headings = [...document.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text);
  return headings.map((text) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
