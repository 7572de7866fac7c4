/** The parts of an OpenAPI document that the reference reads; openapi.ts makes it, and its tests hold it to OpenAPI 3.1. */
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

type Content = Readonly<Record<string, { readonly schema: Schema | Reference; readonly example?: unknown }>>;

/** What a reference such as `#/components/schemas/Pet` stands for, with what stands beside it; else the part itself. */
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

/** The name of the objects that an answer consists of: `Pet` for a Pet, and for a list of them. */
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
