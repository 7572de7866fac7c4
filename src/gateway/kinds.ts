import { type Int64, type Integer64, int64FromJson, parseInt64 } from '../lib/exact-json/exact-json.ts';

/** A `Binding` other than null; a number is an integer. */
type NonNullBinding = string | number | bigint;
/** A value for a `?` of a prepared statement. */
export type Binding = NonNullBinding | null;
/** Where an INSERT adds rows. */
export type Into = { readonly table: string; readonly columns: readonly string[] };
/** The values of a row, in the order of an INSERT's columns. */
export type RowValues = readonly Binding[];

/** JSON Schema keywords that limit a value, such as `minimum` or `enum`. */
export type Bounds = Readonly<Record<string, unknown>>;

/**
 * A kind of value: how the store and both APIs read and write it. It describes its bounds, which the schema's rules check. `In` is
 * the type of inputs: strings, numbers or booleans, because filters and retries are compared as text. `Out` is the type of inputs
 * and of values that a driver returns: it may make others, such as mysql2 a `Date` of a `datetime`.
 */
export interface Kind<In extends Out, Out = In> {
  readonly schema: Bounds;
  /** The allowed values, in words for REST's error messages: `a 64-bit integer`. */
  readonly allowed: string;
  /** Inputs that a database may not keep exactly, or not take, when its column was changed. */
  readonly probes: readonly In[];
  /** Converts an input for an SQL statement. */
  bind(value: In): NonNullBinding;
  /** Reads the text of a URL parameter; undefined when it is not allowed. */
  fromText(text: string): In | undefined;
  /** Reads a JSON value (see `parseJson`); undefined when it is not allowed. */
  fromJson(value: unknown): In | undefined;
  /** The allowed text that was probably meant by a text or JSON value that is not allowed; undefined without one. */
  suggest(value: unknown): string | undefined;
  /** Writes a value as JSON for REST. Throws Error, an internal error, when the schema does not allow the value: SQLite keeps any. */
  write(value: Out): string;
  /** Writes a value as JSON for GraphQL. Throws as `write` does. */
  writeGraphql(value: Out): string;
}

/** The length of the longest text that is probed, in characters: as long as a body by default. */
const PROBE_LENGTH = 65_000;

const text = (bounds: Bounds): Kind<string> => {
  const { minLength = 0, maxLength } = bounds;
  const longest = Math.min(Number(maxLength ?? Number.POSITIVE_INFINITY), PROBE_LENGTH);
  return {
    schema: { type: 'string', ...bounds },
    allowed: maxLength === undefined ? 'a string' : `a string of ${minLength} to ${maxLength} characters`,
    probes: [[..."😀É \\' "].slice(0, longest).join(''), 'e'.repeat(longest)],
    bind: (value) => value,
    fromText: (sent) => sent,
    fromJson: (value) => (typeof value === 'string' ? value : undefined),
    suggest: () => undefined,
    write: writeText,
    writeGraphql: writeText,
  };
};

const int64 = (): Kind<Int64, Integer64> => ({
  schema: { type: 'integer', format: 'int64' },
  allowed: 'a 64-bit integer',
  probes: [(-(2n ** 63n)).toString() as Int64, (2n ** 63n - 1n).toString() as Int64],
  bind: BigInt,
  fromText: parseInt64,
  fromJson: int64FromJson,
  suggest: (value) => (typeof value === 'string' ? parseInt64(value) : undefined),
  write: writeInteger,
  writeGraphql: (id) => `"${writeInteger(id)}"`,
});

const int = (bounds: Bounds): Kind<number> => {
  const [INT_MIN, INT_MAX] = [-(2 ** 31), 2 ** 31 - 1];
  const { minimum: least, maximum: most, exclusiveMinimum: above, exclusiveMaximum: below, ...others } = bounds;
  const minimum = Math.max(INT_MIN, Math.ceil(Number(least ?? INT_MIN)), Math.floor(Number(above ?? INT_MIN - 1)) + 1); // zod's z.int() has the bounds of a double
  const maximum = Math.min(INT_MAX, Math.floor(Number(most ?? INT_MAX)), Math.ceil(Number(below ?? INT_MAX + 1)) - 1);
  const isBounded = minimum > INT_MIN || maximum < INT_MAX;
  // `| 0` converts to int32: equality proves the range. It also turns -0, which JSON allows, into 0.
  const fromJson = (value: unknown) => (typeof value === 'number' && (value | 0) === value ? value | 0 : undefined);
  const write = (value: number) => {
    // https://spec.graphql.org/September2025/#sec-Int.Result-Coercion
    if (fromJson(value) === undefined) throw new Error('A resolver gave a value that is no Int.');
    return JSON.stringify(value);
  };
  return {
    schema: { type: 'integer', format: 'int32', ...others, ...(isBounded && { minimum, maximum }) },
    allowed: isBounded ? `an integer from ${minimum} to ${maximum}` : 'a 32-bit integer',
    probes: [minimum, maximum],
    bind: (value) => value,
    fromText: (sent) => (/^-?\d+$/.test(sent) ? fromJson(Number(sent)) : undefined),
    fromJson,
    suggest: () => undefined,
    write,
    writeGraphql: write,
  };
};

/** True or false; a database gives 1 or 0. */
const boolean = (): Kind<boolean, boolean | number> => ({
  schema: { type: 'boolean' },
  allowed: 'true or false',
  probes: [true, false],
  bind: Number,
  fromText: (sent) => (sent === 'true' || sent === 'false' ? sent === 'true' : undefined),
  fromJson: (value) => (typeof value === 'boolean' ? value : undefined),
  suggest: (value) => (typeof value === 'string' ? nearestWord(value, ['true', 'false']) : undefined),
  write: writeBoolean,
  writeGraphql: writeBoolean,
});

/** One of a few words, which GraphQL writes in capitals. */
const word = ({ enum: given }: Bounds): Kind<string> => {
  const words = given as readonly string[]; // the only bound of this kind is `enum`
  const texts = new Map(words.map((one) => [one, JSON.stringify(one)]));
  const names = new Map(words.map((one) => [one, `"${one.toUpperCase()}"`]));
  const fromText = (sent: string) => (texts.has(sent) ? sent : undefined);
  return {
    schema: { type: 'string', enum: words },
    allowed: `one of ${words.join(', ')}`,
    probes: words,
    bind: (value) => value,
    fromText,
    fromJson: (value) => (typeof value === 'string' ? fromText(value) : undefined),
    suggest: (value) => (typeof value === 'string' ? nearestWord(value, words) : undefined),
    write: (value) => texts.get(value) ?? refuseWord(words),
    writeGraphql: (value) => names.get(value) ?? refuseWord(words),
  };
};

/**
 * THE table of kinds, for the store, plans and REST: a new kind is one more row and its function. `scalar` is the name of
 * the GraphQL scalar; kind `word` has none, because each enum has its own name. `columns` are the MySQL column types that
 * hold every value exactly.
 */
export const KINDS = {
  text: { scalar: 'String', columns: ['varchar', 'text', 'mediumtext', 'longtext'], within: text },
  int64: { scalar: 'ID', columns: ['bigint'], within: int64 },
  int: { scalar: 'Int', columns: ['int'], within: int },
  boolean: { scalar: 'Boolean', columns: ['tinyint'], within: boolean },
  word: { scalar: undefined, columns: ['enum', 'varchar'], within: word },
} as const;

/** The name of a kind. */
export type KindName = keyof typeof KINDS;

type KindOf<Name extends KindName> = ReturnType<(typeof KINDS)[Name]['within']>;

/** The type of a kind's inputs. */
export type ValueIn<Name extends KindName> = Parameters<KindOf<Name>['bind']>[0];

/** The type of a kind's stored values. */
export type ValueOut<Name extends KindName> = Parameters<KindOf<Name>['write']>[0];

/** A kind whose value types are known at run time only, from a table or the schema. */
export type AnyKind = Kind<unknown>;

/** The kind of a GraphQL scalar; undefined for a scalar that is not in the table. */
export function kindOfScalar(scalar: string, bounds: Bounds): AnyKind | undefined {
  const found = Object.values(KINDS).find((kind) => kind.scalar === scalar);
  return found?.within(bounds);
}

const SMALL_INTEGERS = Array.from({ length: 1000 }, (_, value) => `${value}`);

/**
 * An Int64 is decimal digits. V8 caches what `String` makes of a number (`MaxNumberToStringCacheSize` in its heap.cc): the texts of the
 * ids of 400 lists survived each collection, and doubled its time. `toFixed` caches nothing, and costs less than JSON.stringify.
 */
function writeInteger(value: Integer64): string {
  if (typeof value === 'number' && Number.isSafeInteger(value))
    return (value < 1000 ? SMALL_INTEGERS[value] : undefined) ?? value.toFixed(0); // a negative one is no index
  if (typeof value === 'string' && parseInt64(value) !== undefined) return value;
  throw new Error('A resolver gave a value that is no 64-bit integer.');
}

function writeBoolean(value: boolean | number): string {
  if (value === true || value === 1) return 'true';
  if (value === false || value === 0) return 'false';
  throw new Error('A resolver gave a value that is no Boolean.');
}

function refuseWord(words: readonly string[]): never {
  throw new Error(`A resolver gave a value that is none of ${words.join(', ')}.`);
}

/** The word that differs from `sent` only in case and outer spaces, such as `sold` for `SOLD `. */
function nearestWord(sent: string, words: readonly string[]): string | undefined {
  if (sent.length > 100) return undefined; // bounds the work: no word is as long
  const meant = sent.trim().toLowerCase();
  return words.find((one) => one.toLowerCase() === meant);
}

/** What JSON escapes (RFC 8259 §7): quotes, backslashes, control characters. And surrogates: JSON.stringify escapes lone ones. */
const TO_ESCAPE = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;
/** In characters. For longer texts, `JSON.stringify` is faster than a search for characters to escape. */
const SEARCHED_MAX = 100;

function writeText(value: string): string {
  if (typeof value !== 'string') throw new Error('A resolver gave a value that is no String.');
  return value.length <= SEARCHED_MAX && !TO_ESCAPE.test(value) ? `"${value}"` : JSON.stringify(value);
}
