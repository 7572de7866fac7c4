import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, tracked } from '../support/tracked-files.ts';

/** The words of the pet store, once names such as `addPet` and `pet_id` are taken apart. */
const WORD = /(?<![a-z])(?:petstore|pets?|animals?)(?![a-z])/gi;

/** Where they may stand, outside the store, the start and the commands, and why. */
const ALLOWED: Readonly<Record<string, { readonly words: readonly string[]; readonly because: string }>> = {
  'src/gateway/product.ts': {
    words: ['petstore'],
    because: 'keys, metrics, locks and challenges bear this name already',
  },
};

/** What may speak of the store: the store, what starts it, and the commands that its owner gives. */
const MAY_SPEAK = /^src\/(?:petstore\/|main\.ts$|cli\/)/;

const machine = tracked.filter((path) => path.startsWith('src/') && !MAY_SPEAK.test(path));

function wordsOf(text: string): string[] {
  const apart = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2');
  return [...new Set([...apart.matchAll(WORD)].map(([word]) => word.toLowerCase()))];
}

describe('the machine', () => {
  test('has no word of the pet store, neither in code nor in comments', () => {
    const found = machine.flatMap((path) => {
      const words = wordsOf(readFileSync(join(ROOT, path), 'utf8'));
      const unexpected = words.filter((word) => !ALLOWED[path]?.words.includes(word));
      return unexpected.map((word) => `${path}: ${word}`);
    });
    expect(found).toEqual([]);
    expect(machine.length).toBeGreaterThan(100);
  });

  test.each(Object.keys(ALLOWED))('%s needs its exception', (path) => {
    expect(wordsOf(readFileSync(join(ROOT, path), 'utf8'))).toEqual(ALLOWED[path]?.words);
  });
});
