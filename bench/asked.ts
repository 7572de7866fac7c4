/** A request of answers.ts. In its texts, `<name>` stands for what differs between two gateways, such as a key. */
export interface Asked {
  /** By what differences are counted. */
  readonly kind: string;
  /** GET unless it is named. */
  readonly method?: string;
  readonly target: string;
  /** An empty value leaves a usual header out. */
  readonly headers?: Headers;
  readonly body?: string | Buffer;
  /** The whole request, as it stands; its connection is read to its end. */
  readonly raw?: string;
}

export type Headers = Readonly<Record<string, string>>;

export const JSON_TYPE = { 'Content-Type': 'application/json' };
export const NO_KEY = { Authorization: '' };
export const NEW_PET = '{"name":"Rex","categoryId":1,"status":"sold"}';
export const READ_ONLY = { Authorization: 'Bearer <readonly>' };

/**
 * The values of a table: ` ¦ ` or the end of a line is between two of them, a backslash is one, `∅` is the empty text, and
 * `␣`, `⏎` and `␍` are a space at an edge, a line feed, and a carriage return with one.
 */
export function list(texts: TemplateStringsArray, ...values: readonly unknown[]): string[] {
  const signs: Readonly<Record<string, string>> = { '∅': '', '␣': ' ', '⏎': '\n', '␍': '\r\n' };
  const items = String.raw(texts, ...values)
    .trim()
    .split(/ ¦ |\n\s*/);
  return items.map((item) => item.replace(/[∅␣⏎␍]/g, (sign) => signs[sign] ?? sign));
}

/** All fields of an animal. */
export const ALL = '{ id name categoryId status }';

export const postGraphql = (body: string, headers: Headers = {}, kind = 'graphql'): Asked => ({
  kind,
  method: 'POST',
  target: '/graphql',
  headers: { ...JSON_TYPE, ...headers },
  body,
});
export const getGraphql = (words: Record<string, string>, headers: Headers = {}): Asked => ({
  kind: 'graphql get',
  target: `/graphql?${new URLSearchParams(words)}`,
  headers,
});
