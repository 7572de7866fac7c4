import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/tracked-files.ts';
import { QUOTATIONS } from './figures.ts';

const WORDS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
/** A figure in digits or as a word, or another value of a setting. */
const FIGURE = '([\\w.:/-]+(?:,\\d{3})*)';

/** The figures of each place where the document has the sentence, as digits. */
function figuresIn(document: string, sentence: string): string[][] {
  const pattern = sentence
    .split('#')
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(' ', '\\s+'))
    .join(FIGURE);
  return [...document.matchAll(new RegExp(pattern, 'g'))].map((match) => match.slice(1).map(toDigits));
}

function toDigits(text: string): string {
  const word = WORDS.indexOf(text.toLowerCase());
  return word >= 0 ? String(word) : text.replaceAll(/,(?=\d{3})/g, '');
}

const rows = QUOTATIONS.flatMap(([documents, sentence, ...figures]) =>
  [documents].flat().map((document) => ({ document, sentence, figures })),
);

test.each(rows)('$document says $sentence as the code does', ({ document, sentence, figures }) => {
  const found = figuresIn(readFileSync(join(ROOT, document), 'utf8'), sentence);
  expect(found.length, 'the sentence is not there: does the table of figures.ts need a new one?').toBeGreaterThan(0);
  for (const said of found) expect(said).toEqual(figures.map(String));
});
