import { ERRORS } from '../errors.ts';

/** A JSON Schema, as far as the pages show it; a named schema has its name as `title`. */
export interface Schema {
  readonly title?: string;
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [bound: string]: unknown;
}

interface JsonContent {
  readonly schema: Schema;
  readonly example?: unknown;
}

/** A parameter in a path, a query or a header. */
export interface Parameter extends JsonContent {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
}

/** An operation; one that takes no body has none, and an answer without content has no `json`. */
export interface Operation {
  readonly operationId: string;
  readonly method: string;
  /** With the version segment. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly 'x-deprecated-sunset'?: string;
  readonly 'x-stability'?: string;
  readonly parameters: readonly Parameter[];
  readonly body?: JsonContent;
  /** By ascending status: the first one is that of a call that succeeds. */
  readonly answers: readonly Answer[];
}

/** An answer, with the names of its headers. */
export interface Answer {
  readonly status: string;
  readonly description: string;
  readonly headers: readonly string[];
  readonly json?: JsonContent;
}

/** Reads the operations of an OpenAPI document, in its order. */
export function readOperations(document: { readonly paths?: unknown }, basePath: string): readonly Operation[] {
  return Object.entries<object>(resolve(document.paths, document)).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody, responses, ...operation }]) => ({
      ...operation,
      method: method.toUpperCase(),
      path: basePath + path,
      parameters,
      body: jsonOf(requestBody),
      answers: Object.keys(responses).map((status) => {
        const { description, headers = {} } = responses[status];
        return { status, description, headers: Object.keys(headers), json: jsonOf(responses[status]) };
      }),
    })),
  );
}

function jsonOf(part: { readonly content?: Readonly<Record<string, JsonContent>> } | undefined) {
  return part?.content?.['application/json'];
}

/** A part of a document, with what each `$ref` such as `#/components/schemas/Book` stands for in its place. */
function resolve(part: unknown, document: object) {
  return JSON.parse(JSON.stringify(part), (_name, value) => {
    if (typeof value?.$ref !== 'string') return value;
    const { $ref, ...own } = value;
    const [, ...names] = $ref.split('/') as string[];
    const target = names.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document);
    return { title: names.at(-1), ...resolve(target, document), ...own };
  });
}

/** Finds the calls that samples make. Throws an error that stops the start when there is no list in pages to show. */
export function findExampleCalls(operations: readonly Operation[]) {
  const find = ({ parameters }: Operation, place: string, name: string) =>
    parameters.find((parameter) => parameter.in === place && parameter.name === name);
  const plain = operations.filter(({ path }) => !path.includes('{'));
  const list = plain.find((one) => find(one, 'query', 'limit') && one.answers[0]?.json?.schema.items);
  if (!list) throw new Error('The pages need a list with a limit for their samples: the service has none.');
  const refusal = list.answers.find(({ status }) => status === String(ERRORS.bad_request.status));
  const create = plain.find((one) => one.body && find(one, 'header', 'Idempotency-Key'));
  const { schema: { required = [] } = {}, example = {} } = create?.body ?? {};
  const needed = Object.entries(example as object).filter(([name]) => required.includes(name)); // a body is an object
  const int64Names = operations.flatMap(({ answers }) => {
    const { schema = {} } = answers[0]?.json ?? {};
    const properties = Object.entries((schema.items ?? schema).properties ?? {});
    return properties.filter(([, { format }]) => format === 'int64').map(([name]) => name);
  });
  return {
    /** The first list, how many items its page has at most, and its refusal of a wrong parameter. */
    list: {
      path: list.path,
      limitMax: find(list, 'query', 'limit')?.schema.maximum,
      refusal: refusal?.json?.example ?? {},
    },
    /** The first create that is safe to repeat, with the shortest body that it takes. */
    create: create && { path: create.path, bodyJson: JSON.stringify(Object.fromEntries(needed)) },
    /** The names of the 64-bit integers in answers. */
    int64Names: [...new Set(int64Names)],
  };
}

/** A schema in words: its type, what it allows, and its default. */
export function schemaInWords({ type = '', format, enum: words, items, pattern, ...schema }: Schema): string {
  const range = (least: unknown, most: unknown, unit = '') => {
    if (least === undefined) return most === undefined ? '' : `at most ${most}${unit}`;
    return most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`;
  };
  // A 64-bit integer's own bounds say nothing more, and numbers would round them.
  const isInt64 = format === 'int64';
  return [
    isInt64 ? '64-bit integer' : items ? `list of ${items.title}` : type,
    isInt64 ? '' : range(schema.minimum, schema.maximum),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
    pattern === undefined ? '' : `matches \`${pattern}\``,
    words ? `one of ${words.map((word) => `\`${word}\``).join(', ')}` : '',
    schema.default === undefined ? '' : `default \`${schema.default}\``,
  ]
    .filter((text) => text !== '')
    .join(' · ');
}
