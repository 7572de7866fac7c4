import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { ROOT, tracked } from './support/tracked-files.ts';

/** A row of ARCHITECTURE.md's table of rooms: paths from the root, a room's with a slash at its end. */
interface Row {
  readonly room: string;
  readonly text: string;
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
}

interface Import {
  readonly file: string;
  readonly specifier: string;
}

const LEAVES = 'leaves';
const rows = readRows(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'));
const leaves = rows.find(({ room }) => room === LEAVES)?.rooms ?? [];
const code = tracked.filter((path) => /^(?:src|migrations)\/.*\.(?:ts|js)$/.test(path));

/** The rows of the table; the leaves' own row names them in place of a room. */
function readRows(document: string): Row[] {
  const named = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  const table = document.split('\n').filter((line) => /^\| (?:`|leaves)/.test(line));
  return table.map((line) => {
    const [, first = '', , rooms = '', packages = ''] = line.split('|');
    const inSource = (name: string) => normalize(join('src', name));
    const isLeaves = first.trim().startsWith(LEAVES);
    return {
      room: isLeaves ? LEAVES : inSource(named(first)[0] ?? ''),
      text: line,
      rooms: isLeaves ? named(first).map((name) => inSource(`${name}.ts`)) : named(rooms).map(inSource),
      packages: named(packages),
    };
  });
}

/** The row of the file's room: of several that fit, such as `database/` and `database/mysql/`, the one with the longest name. */
function rowOf(path: string): Row | undefined {
  const fitting = rows.filter(({ room }) => (room.endsWith('/') ? path.startsWith(room) : path === room));
  const [row] = fitting.sort((one, other) => other.room.length - one.room.length);
  return row ?? rows.find(({ room, rooms }) => room === LEAVES && rooms.includes(path));
}

/** The one import whose name is made: of each file in `migrations/`. */
const runsMigrations = ({ file, specifier }: Import) =>
  file === 'src/gateway/database/schema-check.ts' && specifier === '(not a plain text)';

/**
 * Every module that a file names: by import and export, of types too, at run time, by `import('…').Type`, in comments that
 * the type check reads, and by the address of a file of ours that a thread or a process is to run.
 */
function importsIn(file: string, text: string): Import[] {
  const found: Import[] = [];
  const note = (node: ts.Node | undefined) =>
    found.push({ file, specifier: node && ts.isStringLiteralLike(node) ? node.text : '(not a plain text)' });
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || (ts.isExportDeclaration(node) && node.moduleSpecifier)) {
      note(node.moduleSpecifier);
    } else if (ts.isImportTypeNode(node)) {
      note(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined);
    } else if (ts.isCallExpression(node) && isModuleCall(node.expression)) {
      note(node.arguments[0]);
    } else if (ts.isNewExpression(node) && isFileOfOurs(node)) {
      const [named] = node.arguments as unknown as [ts.StringLiteralLike]; // as isFileOfOurs has seen
      found.push({ file, specifier: named.text.startsWith('.') ? named.text : `./${named.text}` });
    }
    for (const comment of (node as { jsDoc?: readonly ts.Node[] }).jsDoc ?? []) visit(comment); // where the parser puts them
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

/** `new URL('thing.ts', import.meta.url)` */
function isFileOfOurs({ expression, arguments: [named, base] = [] as never }: ts.NewExpression): boolean {
  const isAddress = ts.isIdentifier(expression) && expression.text === 'URL' && base?.getText() === 'import.meta.url';
  return isAddress && named !== undefined && ts.isStringLiteralLike(named) && /\.(?:ts|js)$/.test(named.text);
}

const importsOf = (file: string): Import[] => importsIn(file, readFileSync(join(ROOT, file), 'utf8'));

/** Who loads modules by a function of another name has it from one of the two last ones: no room may. */
const LOADERS = /^(?:require|(?:\w+\.)*(?:createRequire|getBuiltinModule))$/;

function isModuleCall(callee: ts.Expression): boolean {
  return callee.kind === ts.SyntaxKind.ImportKeyword || LOADERS.test(callee.getText());
}

/** Whether the table lets the file import this. */
function isAllowed({ file, specifier }: Import): boolean {
  const row = rowOf(file);
  if (row === undefined) return false;
  if (!specifier.startsWith('.')) return isPackageAllowed(row, specifier);
  const target = normalize(join(dirname(file), specifier));
  if (row.room === 'migrations/') return false;
  const targetRoom = rowOf(target)?.room;
  const isLibrary = row.room.startsWith('src/lib/');
  return (
    (!isLibrary && (target === 'package.json' || leaves.includes(target))) ||
    (row.room !== LEAVES && [row.room, ...row.rooms].some((room) => room === target || room === targetRoom))
  );
}

function isPackageAllowed({ packages }: Row, specifier: string): boolean {
  if (isBuiltin(specifier) && specifier !== 'node:sqlite') return true;
  return packages.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}

const complain = ({ file, specifier }: Import): string =>
  `${file} imports ${specifier}, and ARCHITECTURE.md says: ${rowOf(file)?.text ?? 'nothing about its room'}`;

describe('the table of rooms in ARCHITECTURE.md', () => {
  test('has a row for every file, and names nothing that is not there', () => {
    expect(code.filter((file) => rowOf(file) === undefined)).toEqual([]);
    const exists = (path: string) => code.some((file) => (path.endsWith('/') ? file.startsWith(path) : file === path));
    const named = rows.flatMap(({ room, rooms }) => (room === LEAVES ? rooms : [room, ...rooms]));
    expect([...new Set(named)].filter((path) => !exists(path))).toEqual([]);
  });

  test('allows every import of the code', () => {
    const imports = code.flatMap(importsOf);
    const others = imports.filter((found) => !isAllowed(found) && !runsMigrations(found));
    expect(others.map(complain)).toEqual([]);
    expect(imports.length).toBeGreaterThan(500);
  });

  test.each([
    ['src/gateway/rest/rest-api.ts', '../graphql/limits.ts'],
    ['src/gateway/routes.ts', '../petstore/pets/pet.ts'],
    ['src/gateway/schema/builder.ts', 'koa'],
    ['src/petstore/pets/pet.ts', 'node:sqlite'],
    ['src/gateway/process/server.ts', '../../lib/ordered-http/request-order.ts'],
    ['src/lib/ordered-http/ordered-http.ts', '../../gateway/log.ts'],
    ['src/gateway/errors.ts', './gateway.ts'],
    ['migrations/1_create.ts', '../src/gateway/errors.ts'],
    ['src/gateway/database/mysql.ts', '../../lib/mysql-pool/round-trip.ts'],
  ])('refuses that %s imports %s', (file, specifier) => {
    expect(isAllowed({ file, specifier })).toBe(false);
  });

  test.each([
    ["import type { A } from '../graphql/a.ts'", '../graphql/a.ts'],
    ["await import('../' + room)", '(not a plain text)'],
    ["/** @type {import('../graphql/a.ts').A} */\nlet a;", '../graphql/a.ts'],
    ["new Worker(new URL('../graphql/a.ts', import.meta.url))", '../graphql/a.ts'],
    ["process.getBuiltinModule('node:sqlite')", 'node:sqlite'],
  ])('is held against %s', (text, specifier) => {
    expect(importsIn('src/gateway/rest/new.ts', text)).toEqual([{ file: 'src/gateway/rest/new.ts', specifier }]);
  });
});
