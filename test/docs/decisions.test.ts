import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/tracked-files.ts';

const FOLDER = join(ROOT, 'docs/decisions');
const files = readdirSync(FOLDER).filter((name) => /^\d/.test(name));
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

test('decisions are numbered without gaps, in the order of their table of contents', () => {
  const titles = files.map((name) => read(name).split('\n')[0]?.slice(2) ?? '');
  expect(titles.map((title) => Number.parseInt(title, 10))).toEqual(files.map((_, index) => index + 1));
  expect(files.map((name) => Number(name.slice(0, 4)))).toEqual(files.map((_, index) => index + 1));
  const listed = read('README.md').matchAll(/^- (\d+): \[(.*)\]\((.*)\)$/gm);
  expect(Array.from(listed, ([, number, title, name]) => [`${number}. ${title}`, name])).toEqual(
    files.map((name, index) => [titles[index], name]),
  );
});

test('every mechanism names where it is, and a test, a file or a decision that holds it', () => {
  const rows = [...read('0023-mechanisms.md').matchAll(/^\| (.+) \|$/gm)].map(([, row = '']) => row.split(' | '));
  const mechanisms = rows.filter(([, where]) => where?.startsWith('`'));
  expect(mechanisms.length).toBeGreaterThan(40);
  const lacking = mechanisms.flatMap(([name, where = '', , , heldBy = '']) => {
    const places = [...where.matchAll(/`([^`]+)`/g)].filter(
      ([, place]) =>
        !isThere(...['src', 'src/gateway'].flatMap((floor) => [`${floor}/${place}`, `${floor}/${place}.ts`]), place),
    );
    const holders = [...heldBy.matchAll(/`([^`]+)`/g)].filter(([, test]) => !isThere(`test/${test}.test.ts`, test));
    const isHeld = /`|^decision \d+$/.test(heldBy);
    return places.length + holders.length === 0 && isHeld ? [] : [name];
  });
  expect(lacking).toEqual([]);
});

function isThere(...paths: readonly (string | undefined)[]): boolean {
  return paths.some((path) => path !== undefined && existsSync(join(ROOT, path)));
}
