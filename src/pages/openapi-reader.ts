/** The parts of an OpenAPI 3.1 document that the pages read. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, unknown>>;
}

/** One operation. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly 'x-deprecated-sunset'?: string;
  readonly 'x-stability'?: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  /** Whoever has none takes no body. */
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

/** A parameter in a path, a query or a header. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema | Reference;
  readonly example?: unknown;
}

/** An answer. */
export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  /** An answer that has none has no body. */
  readonly content?: Content;
}

/** A JSON Schema, as far as the reference shows it. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly pattern?: string;
  readonly items?: Schema | Reference;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema | Reference>>;
  readonly [bound: string]: unknown;
}

interface Reference {
  readonly $ref: string;
}

type Content = Readonly<Record<string, JsonContent>>;

/** JSON, as a body or an answer has it. */
export interface JsonContent {
  readonly schema: Schema | Reference;
  readonly example?: unknown;
}

/** An operation of a document, and where it is. */
export interface PlacedOperation {
  /** In capitals. */
  readonly method: string;
  /** Below the version segment, with parameters in braces. */
  readonly path: string;
  readonly operation: Operation;
}

/** All operations, in the order of the document. */
export function operationsOf(document: OpenApi): readonly PlacedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

/** The parameters of an operation. */
export function parametersOf(document: OpenApi, { parameters = [] }: Operation): readonly Parameter[] {
  return parameters.map((part) => resolve<Parameter>(document, part));
}

/** The JSON of a body or of an answer; undefined where it has no content. */
export function jsonOf(part: { readonly content?: Content } | undefined): JsonContent | undefined {
  return part?.content?.['application/json'];
}

/** The answers of an operation by their statuses, in ascending order: the first one is that of a call that succeeds. */
export function answersOf(document: OpenApi, { responses }: Operation): readonly [status: string, Response][] {
  return Object.entries(responses).map(([status, part]) => [status, resolve<Response>(document, part)]);
}

/** The JSON that a call gets when it succeeds; undefined where that answer has no content. */
export function resultOf(document: OpenApi, operation: Operation): JsonContent | undefined {
  return jsonOf(answersOf(document, operation)[0]?.[1]);
}

/** What a reference such as `#/components/schemas/Book` stands for, with what stands beside it; else the part itself. */
export function resolve<Part extends object>(document: OpenApi, part: Part | Reference): Part {
  if (!('$ref' in part)) return part;
  const { $ref, ...own } = part as Reference;
  const names = $ref.split('/').slice(1);
  const target = names.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document);
  return { ...(target as Part), ...own };
}

/** The name of the schema that is referred to. */
export function nameOf(part: object): string | undefined {
  return '$ref' in part ? String(part.$ref).split('/').at(-1) : undefined;
}

/** The name of the objects that an answer consists of: `Book` for a Book, and for a list of them. */
export function itemName(document: OpenApi, part: Schema | Reference): string {
  const { items } = resolve<Schema>(document, part);
  return (items ? nameOf(items) : nameOf(part)) ?? 'object';
}

/** A type in TypeScript: integers of 64 bits are `bigint`. */
export function typescriptType(document: OpenApi, part: Schema | Reference): string {
  const schema = resolve<Schema>(document, part);
  if (schema.enum) return schema.enum.map((word) => `'${word}'`).join(' | ');
  if (schema.items) return `${typescriptType(document, schema.items)}[]`;
  if (schema.properties) return nameOf(part) ?? 'object';
  return schema.type === 'integer' ? 'bigint' : (schema.type ?? 'unknown');
}

/** The interface of the objects that an answer consists of, in TypeScript. */
export function typescriptInterface(document: OpenApi, part: Schema | Reference): string {
  const name = itemName(document, part);
  const schema = resolve<Schema>(document, part);
  const { properties = {}, required = [] } = resolve<Schema>(document, schema.items ?? schema);
  const members = Object.entries(properties).map(
    ([member, of]) => `  ${member}${required.includes(member) ? '' : '?'}: ${typescriptType(document, of)};`,
  );
  return `interface ${name} {\n${members.join('\n')}\n}`;
}

/** A schema in words: its type, what it allows, and its default. */
export function schemaInWords(document: OpenApi, part: Schema | Reference): string {
  const schema = resolve<Schema>(document, part);
  const { type = '', format, enum: words, items, pattern } = schema;
  const range = (least: unknown, most: unknown, unit: string) => {
    if (least === undefined) return most === undefined ? '' : `at most ${most}${unit}`;
    return most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`;
  };
  // A 64-bit integer's own bounds say nothing more, and numbers would round them.
  const isInt64 = format === 'int64';
  return [
    isInt64 ? '64-bit integer' : items ? `list of ${nameOf(items)}` : type,
    isInt64 ? '' : range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
    pattern === undefined ? '' : `matches \`${pattern}\``,
    words ? `one of ${words.map((word) => `\`${word}\``).join(', ')}` : '',
    schema.default === undefined ? '' : `default \`${schema.default}\``,
  ]
    .filter((text) => text !== '')
    .join(' · ');
}
