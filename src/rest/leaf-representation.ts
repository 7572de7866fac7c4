import { GraphQLBoolean, GraphQLEnumType, GraphQLID, GraphQLInt, type GraphQLNamedType, GraphQLString } from 'graphql';
import { int64FromJson, parseInt64 } from '../int64.ts';
import type { Bounds } from '../schema/rules.ts';
import { suggestWord } from './input-words.ts';

/** A piece of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** How the values of a leaf type look in REST; a value is in the words of the store. */
export interface Leaf {
  readonly schema: Json;
  /** The named schemas that `schema` refers to. */
  readonly components: Json;
  /** What is allowed, as messages say it. */
  readonly allowed: string;
  /** The value of a text in an address; undefined when it is not allowed. */
  fromText(text: string): unknown;
  /** The value of a JSON value (see `parseJson`); undefined when it is not allowed. */
  fromJson(value: unknown): unknown;
  /** A value as JSON. */
  write(value: unknown): string;
  /** The text of what may have been meant by a text or JSON value that is not allowed. */
  suggest(value: unknown): string | undefined;
}

/** The representation of a leaf type, within bounds. Throws an error that stops the start for a type that has none. */
export function representLeaf(type: GraphQLNamedType, bounds: Bounds = {}): Leaf {
  if (type instanceof GraphQLEnumType) return representEnum(type);
  const represent = SCALARS.get(type);
  if (represent === undefined) throw new Error(`${type.name} has no representation in REST.`);
  return represent(bounds);
}

const representId = (): Leaf => ({
  schema: { type: 'integer', format: 'int64' },
  components: {},
  allowed: 'a 64-bit integer',
  fromText: parseInt64,
  fromJson: int64FromJson,
  write: String, // an Int64, or a number that is exact: digits
  suggest: (value) => (typeof value === 'string' ? parseInt64(value) : undefined),
});

const representInt = (bounds: Bounds): Leaf => {
  const { minimum, maximum } = bounds;
  // The bitwise operator makes 32 bits of a number, and 0 of -0, which JSON can say.
  const fromJson = (value: unknown) => (typeof value === 'number' && (value | 0) === value ? value | 0 : undefined);
  return {
    schema: { type: 'integer', format: 'int32', ...bounds },
    components: {},
    allowed:
      minimum === undefined || maximum === undefined ? 'a 32-bit integer' : `an integer from ${minimum} to ${maximum}`,
    fromText: (text) => (/^-?\d+$/.test(text) ? fromJson(Number(text)) : undefined),
    fromJson,
    write: String,
    suggest: () => undefined,
  };
};

const representString = (bounds: Bounds): Leaf => {
  const { minLength, maxLength } = bounds;
  const least = minLength === undefined ? '' : ` of at least ${minLength} characters`;
  return {
    schema: { type: 'string', ...bounds },
    components: {},
    allowed: maxLength === undefined ? `a string${least}` : `a string of ${minLength ?? 0} to ${maxLength} characters`,
    fromText: (text) => text,
    fromJson: (value) => (typeof value === 'string' ? value : undefined),
    write: writeString,
    suggest: () => undefined,
  };
};

const representBoolean = (): Leaf => ({
  schema: { type: 'boolean' },
  components: {},
  allowed: 'true or false',
  fromText: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  fromJson: (value) => (typeof value === 'boolean' ? value : undefined),
  write: String,
  suggest: (value) => (typeof value === 'string' ? suggestWord(value, ['true', 'false']) : undefined),
});

const SCALARS: ReadonlyMap<GraphQLNamedType, (bounds: Bounds) => Leaf> = new Map<
  GraphQLNamedType,
  (bounds: Bounds) => Leaf
>([
  [GraphQLID, representId],
  [GraphQLInt, representInt],
  [GraphQLString, representString],
  [GraphQLBoolean, representBoolean],
]);

/** An enum's words are those of GraphQL in lower case. */
function representEnum(type: GraphQLEnumType): Leaf {
  const values = new Map(type.getValues().map(({ name, value }): [string, unknown] => [name.toLowerCase(), value]));
  const texts = new Map([...values].map(([word, value]) => [value, JSON.stringify(word)]));
  const words = [...values.keys()];
  const fromText = (text: string) => values.get(text);
  return {
    schema: refer(type.name),
    components: { [type.name]: { type: 'string', enum: words, description: describeEnum(type) } },
    allowed: `one of ${words.join(', ')}`,
    fromText,
    fromJson: (value) => (typeof value === 'string' ? fromText(value) : undefined),
    write: (value) => texts.get(value) ?? 'null', // a store's value is one of the enum's
    suggest: (value) => (typeof value === 'string' ? suggestWord(value, words) : undefined),
  };
}

function describeEnum(type: GraphQLEnumType): string {
  const words = type.getValues().map(({ name, description }) => `\`${name.toLowerCase()}\`: ${description}`);
  return [type.description, ...words].join(' ');
}

/** The schema that refers to a named one. */
export function refer(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** All but what JSON takes as it is (RFC 8259 §7): quotes, backslashes, control characters, and halves of characters. */
const TO_ESCAPE = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;
/** Looking costs more than it saves beyond some length. */
const LOOKED_AT_MAX = 100;

function writeString(value: unknown): string {
  const text = value as string; // what a String field exposes
  return text.length <= LOOKED_AT_MAX && !TO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}
