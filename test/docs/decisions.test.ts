import { readdirSync, readFileSync } from 'node:fs';
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
