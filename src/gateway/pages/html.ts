import { readFileSync } from 'node:fs';

/** HTML that is put into other HTML as it stands. */
export interface Html {
  readonly html: string;
}

/** What can be put into HTML: a text is escaped, a list is joined, `undefined` and `false` leave nothing. */
export type Content = Html | string | number | false | undefined | readonly Content[];

/** A tag for template literals of HTML. */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return { html: String.raw({ raw: strings }, ...contents.map(toHtml)) };
}

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
    if (value === undefined)
      throw new Error(`src/gateway/pages/${name} has ${placeholder}, for which there is no value.`);
    return value;
  });
}

/** A file of HTML in this folder, filled as `fillFile` does. */
export function htmlFile(name: string, contents: Readonly<Record<string, Content>>): Html {
  const values = Object.entries(contents).map(([key, content]) => [key, toHtml(content)]);
  return { html: fillFile(name, Object.fromEntries(values)) };
}

/** `text` as HTML; a part between two ` becomes a `code` element. */
export function inline(text: string): Html {
  return { html: toHtml(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>') };
}

/** Content as HTML, for the inside and the quoted attributes of elements. */
export function toHtml(content: Content): string {
  if (content === undefined || content === false) return '';
  if (typeof content === 'object') return 'html' in content ? content.html : content.map(toHtml).join('');
  return String(content).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
