import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { ERRORS } from '../src/gateway/errors.ts';
import { LIMITS } from '../src/gateway/graphql/limits.ts';
import { printedSchema } from '../src/gateway/schema/schema.ts';
import { SCHEMA } from './support/petstore-api.ts';
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

/** A cast by way of `unknown` or `never`, which no type checks, without a comment beside it or above it. */
function unprovenCasts(path: string, text: string): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const lines = text.split('\n');
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line;
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && ts.isAsExpression(node.expression) && isOpaque(node.expression.type)) {
      const [first, last] = [lineOf(node.getStart(file)), lineOf(node.getEnd())];
      const hasReason =
        /^\s*(?:\/\/|\*)/.test(lines[first - 1] ?? '') ||
        lines.slice(first, last + 1).some((line) => line.includes('// '));
      if (!hasReason) found.push(`${path}:${last + 1}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** An async function that is handed to whom nobody's promise matters: a listener, or a timer. What it throws is nobody's. */
function asyncListeners(path: string, text: string): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && LISTENING.test(node.expression.getText(file)) && node.arguments.some(isAsync)) {
      found.push(`${path}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const LISTENING =
  /\.(?:on|once|addListener|addEventListener|prepend(?:Once)?Listener)$|^(?:set(?:Timeout|Interval|Immediate)|queueMicrotask)$/;

const isAsync = (node: ts.Node): boolean =>
  (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) &&
  node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) === true;

const isOpaque = ({ kind }: ts.TypeNode): boolean =>
  kind === ts.SyntaxKind.UnknownKeyword || kind === ts.SyntaxKind.NeverKeyword;

describe('the house', () => {
  test('schema.graphql is what the code prints', () => {
    expect(read('schema.graphql')).toBe(printedSchema(SCHEMA));
  });

  test('a source file is read in one sitting: 200 lines at most', () => {
    const lines = (path: string) => read(path).trimEnd().split('\n').length;
    // One state machine stands in one file.
    const longer = [
      'src/lib/mysql-pool/session-pool.ts',
      'src/lib/fair-shares/fair-shares.ts',
      'src/lib/graphql-plan/planned-execution.ts',
    ];
    expect(sources.filter((path) => lines(path) > (longer.includes(path) ? 350 : 200))).toEqual([]);
  });

  test('so is an example: under 200 lines each', () => {
    const files = tracked.filter((path) => /^examples\/.+\.tsx?$/.test(path));
    const byExample = Object.entries(Object.groupBy(files, (path) => path.split('/')[1] ?? ''));
    const long = byExample.filter(([, paths = []]) => paths.map(read).join('').split('\n').length > 200);
    expect([byExample.length, long]).toEqual([2, []]);
  });

  test('basenames in src are unique, and say something', () => {
    const names = sources.map((path) => basename(path)).filter((name) => name !== 'README.md'); // of each library
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names.filter((name) => /^(?:index|utils?|helpers?|types?|common)\.\w+$/.test(name))).toEqual([]);
  });

  test('the database says in its own words what an error means: it knows no refusal of the APIs', () => {
    const imported = sources
      .filter((path) => path.startsWith('src/gateway/database/'))
      .flatMap((path) =>
        [...read(path).matchAll(/import ([^;]+) from '[./]+\/errors\.ts'/g)].map(([, names]) => names),
      );
    expect(new Set(imported)).toEqual(new Set(['{ DatabaseFault }']));
  });

  test('a cast that no type checks has its proof beside it', () => {
    expect(sources.filter((path) => path.endsWith('.ts')).flatMap((path) => unprovenCasts(path, read(path)))).toEqual(
      [],
    );
    expect(unprovenCasts('a.ts', 'const a = b as unknown as C;')).toEqual(['a.ts:1']);
    expect(unprovenCasts('a.ts', 'const a = b as unknown as C; // as b.ts makes it')).toEqual([]);
  });

  test('an object that is made for each request has no getter in its literal: V8 makes it in the old space', () => {
    const getters = sources.filter(
      (path) => path.endsWith('.ts') && /^\s+get \w+\(\)/m.test(read(path)) && !/^export class/m.test(read(path)),
    );
    expect(getters).toEqual(['src/gateway/log.ts']); // one for each process
  });

  test('no listener and no timer is async: nobody takes the promise', () => {
    expect(sources.filter((path) => path.endsWith('.ts')).flatMap((path) => asyncListeners(path, read(path)))).toEqual(
      [],
    );
    expect(asyncListeners('a.ts', "a.on('b', async () => c());")).toEqual(['a.ts:1']);
    expect(asyncListeners('a.ts', 'setTimeout(async function () {}, 1);')).toEqual(['a.ts:1']);
    expect(asyncListeners('a.ts', "a.on('b', () => c());")).toEqual([]);
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
});
