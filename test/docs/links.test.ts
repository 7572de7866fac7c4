import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, tracked } from '../support/tracked-files.ts';

const documents = tracked.filter((path) => path.endsWith('.md'));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** What is shown as it stands, and so holds no link and no heading; reference definitions stay. */
const withoutCode = (text: string): string =>
  text.replaceAll(/^ *(```|~~~)[\s\S]*?^ *\1/gm, '').replaceAll(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, '');

/** Where the links of a document lead: in a line, by reference, as HTML. An unknown reference leads to `[name]`. */
function targetsOf(text: string): string[] {
  const plain = withoutCode(text);
  const all = (pattern: RegExp) => [...plain.matchAll(pattern)].map((match) => match.slice(1).find(Boolean) ?? '');
  const definitions = new Set(all(/^ {0,3}\[([^\]]+)\]:/gm).map((name) => name.toLowerCase()));
  const references = all(/\[[^\]]+\]\[([^\]]+)\]|\[([^\]]+)\]\[\]/g);
  return [
    ...all(/\]\(<?([^)\s>]*)>?(?:\s+["'(][^)]*)?\)/g),
    ...all(/^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)/gm),
    ...all(/\s(?:href|src)="([^"]*)"/g),
    ...references.filter((name) => !definitions.has(name.toLowerCase())).map((name) => `[${name}]`),
  ].filter((target) => !/^(?:https?|mailto):/.test(target));
}

/** The names that GitHub gives the headings of a document. */
function anchorsOf(text: string): string[] {
  const headings = [...text.replaceAll(/^ *(```|~~~)[\s\S]*?^ *\1/gm, '').matchAll(/^#+ (.+)$/gm)];
  const names = headings.map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((other) => other === name).length;
    return before === 0 ? name : `${name}-${before}`;
  });
}

/** The links of a document that lead nowhere. */
function brokenLinks(path: string, text: string): string[] {
  return targetsOf(text).filter((target) => {
    const [file = '', anchor] = target.split('#');
    const named = file === '' ? path : join(path, '..', decodeURI(file));
    if (target.startsWith('[') || !existsSync(join(ROOT, named))) return true;
    const isDocument = anchor !== undefined && named.endsWith('.md');
    return isDocument && !anchorsOf(named === path ? text : read(named)).includes(anchor);
  });
}

test('every link of the documents leads somewhere, to a heading where it names one', () => {
  const broken = documents.flatMap((path) => brokenLinks(path, read(path)).map((target) => `${path} → ${target}`));
  expect(broken).toEqual([]);
  expect(documents.flatMap((path) => targetsOf(read(path))).length).toBeGreaterThan(100);
});
