import { readFileSync } from 'node:fs';

/** A placeholder such as `__URL__`: to the parser of every language it is a name. */
const PLACEHOLDER = /__([A-Z]+(?:_[A-Z]+)*)__/g;

/**
 * The text of the file `name` in this folder, with `values` in place of its placeholders. Throws Error, which stops the
 * start, when a placeholder has no value.
 */
export function fillFile(name: string, values: Readonly<Record<string, string>>): string {
  const template = readFileSync(new URL(name, import.meta.url), 'utf8').trimEnd();
  return template.replaceAll(PLACEHOLDER, (placeholder, key) => {
    const value = values[key];
    if (value === undefined) throw new Error(`src/pages/${name} has ${placeholder}, for which there is no value.`);
    return value;
  });
}
