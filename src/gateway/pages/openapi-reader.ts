import { ERRORS } from '../errors.ts';

/** The parts of a JSON Schema that the pages show. A schema that was referred to by name has the name as `title`. */
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

/** An operation of an OpenAPI document, with all `$ref`s resolved. */
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
  /** By ascending status, so the first answer is the successful one. */
  readonly answers: readonly Answer[];
}

/** An answer of an operation. */
export interface Answer {
  readonly status: string;
  readonly description: string;
  /** Names of headers. */
  readonly headers: readonly string[];
  readonly json?: JsonContent;
}

/** Reads the operations of an OpenAPI document, in the order of the document. */
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

/** A part of a document, with each `$ref` such as `#/components/schemas/Book` replaced by what it refers to. */
function resolve(part: unknown, document: object) {
  return JSON.parse(JSON.stringify(part), (_name, value) => {
    if (typeof value?.$ref !== 'string') return value;
    const { $ref, ...own } = value;
    const [, ...names] = $ref.split('/') as string[];
    const target = names.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document);
    return { title: names.at(-1), ...resolve(target, document), ...own };
  });
}

/** Finds the calls for samples. Throws an error, which stops the start, when no operation is a list with a limit. */
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
    /** The first list: its path, its largest limit, and the Error body for a wrong parameter. */
    list: {
      path: list.path,
      limitMax: Number(find(list, 'query', 'limit')?.schema.maximum),
      refusal: refusal?.json?.example ?? {},
    },
    /** The first create with an `Idempotency-Key`, and a body with its required properties only. */
    create: create && { path: create.path, bodyJson: JSON.stringify(Object.fromEntries(needed)) },
    /** The names of the 64-bit integers in answers. */
    int64Names: [...new Set(int64Names)],
  };
}

/** Describes a schema in words: its type, its bounds and its default. */
export function schemaInWords({ type = '', format, enum: words, items, pattern, ...schema }: Schema): string {
  const range = (least: unknown, most: unknown, unit = '') => {
    if (least === undefined) return most === undefined ? '' : `at most ${most}${unit}`;
    return most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`;
  };
  // The bounds of int64 are left out: the type says them, and JavaScript numbers would round them.
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
