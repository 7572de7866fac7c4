import { type Int64, type Integer64, int64FromJson, parseInt64 } from './int64.ts';

/** What a statement binds, and what a driver gives; a number is an integer. */
export type Stored = string | number | bigint;
/** A value for a `?` of a prepared statement. */
export type Binding = Stored | null;

/** JSON Schema keywords, such as `minimum`; the words of an enum are its `enum`. */
export type Bounds = Readonly<Record<string, unknown>>;

/**
 * A kind of value, within bounds: all that the store and both APIs must know of it. `In` is what comes in, `Out` what is kept:
 * texts, numbers or booleans, for filters and retries are compared by `String` and `JSON.stringify`.
 */
export interface Kind<In extends Out, Out = In> {
  /** The JSON Schema of REST. */
  readonly schema: Bounds;
  /** What REST allows, as messages say it. */
  readonly allowed: string;
  bind(value: In): Stored;
  /** What a column gave as a value; absent where that is the value itself. */
  read?(stored: Stored): Out;
  /** The value of a text in an address; undefined when it is not allowed. */
  fromText(text: string): In | undefined;
  /** The value of a JSON value (see `parseJson`); undefined when it is not allowed. */
  fromJson(value: unknown): In | undefined;
  /** What may have been meant by a text or JSON value that is not allowed, as a text that is. */
  suggest(value: unknown): string | undefined;
  /** A value as JSON of REST. */
  write(value: Out): string;
  /** A value as JSON of GraphQL; throws when the schema does not allow it: that is a fault of ours. */
  writeGraphql(value: Out): string;
}

const text = (bounds: Bounds): Kind<string> => {
  const { minLength = 0, maxLength } = bounds;
  return {
    schema: { type: 'string', ...bounds },
    allowed: maxLength === undefined ? 'a string' : `a string of ${minLength} to ${maxLength} characters`,
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
  bind: BigInt,
  fromText: parseInt64,
  fromJson: int64FromJson,
  suggest: (value) => (typeof value === 'string' ? parseInt64(value) : undefined),
  write: String, // an Int64, or a number that is exact: digits
  writeGraphql: (id) => `"${id}"`,
});

const int = (bounds: Bounds): Kind<number> => {
  const { minimum, maximum } = bounds;
  // The bitwise operator makes 32 bits of a number, and 0 of -0, which JSON can say.
  const fromJson = (value: unknown) => (typeof value === 'number' && (value | 0) === value ? value | 0 : undefined);
  return {
    schema: { type: 'integer', format: 'int32', ...bounds },
    allowed:
      minimum === undefined || maximum === undefined ? 'a 32-bit integer' : `an integer from ${minimum} to ${maximum}`,
    bind: (value) => value,
    fromText: (sent) => (/^-?\d+$/.test(sent) ? fromJson(Number(sent)) : undefined),
    fromJson,
    suggest: () => undefined,
    write: String,
    writeGraphql(value) {
      // https://spec.graphql.org/September2025/#sec-Int.Result-Coercion
      if (fromJson(value) === undefined) throw new Error('A resolver gave a value that is no Int.');
      return String(value);
    },
  };
};

/** One of a few words; GraphQL has them in capitals. */
const word = ({ enum: given }: Bounds): Kind<string> => {
  const words = given as readonly string[]; // the bounds of a word are its words
  const texts = new Map(words.map((one) => [one, JSON.stringify(one)]));
  const names = new Map(words.map((one) => [one, `"${one.toUpperCase()}"`]));
  const fromText = (sent: string) => (texts.has(sent) ? sent : undefined);
  return {
    schema: { type: 'string', enum: words },
    allowed: `one of ${words.join(', ')}`,
    bind: (value) => value,
    fromText,
    fromJson: (value) => (typeof value === 'string' ? fromText(value) : undefined),
    suggest: (value) => (typeof value === 'string' ? nearestWord(value, words) : undefined),
    write: (value) => texts.get(value) ?? refuseWord(words),
    writeGraphql: (value) => names.get(value) ?? refuseWord(words),
  };
};

/**
 * THE table of kinds. Store, planner and representation are made from it: a new kind is one more row, and its function.
 * `scalar` is what GraphQL calls it (an enum of words has a name of its own); `columns` are the types of MySQL's columns
 * that hold every value exactly.
 */
export const KINDS = {
  text: { scalar: 'String', columns: ['varchar', 'text', 'mediumtext', 'longtext'], within: text },
  int64: { scalar: 'ID', columns: ['bigint'], within: int64 },
  int: { scalar: 'Int', columns: ['int'], within: int },
  word: { scalar: undefined, columns: ['enum', 'varchar'], within: word },
} as const;

/** The name of a kind. */
export type KindName = keyof typeof KINDS;

type KindOf<Name extends KindName> = ReturnType<(typeof KINDS)[Name]['within']>;

/** The type of a kind's values as they come in. */
export type ValueIn<Name extends KindName> = Parameters<KindOf<Name>['bind']>[0];

/** The type of a kind's values as they are kept. */
export type ValueOut<Name extends KindName> = Parameters<KindOf<Name>['write']>[0];

/** A kind whose types are not known here: who takes it from a table or a schema knows that its values fit. */
export type AnyKind = Kind<unknown>;

/** The kind of a GraphQL scalar, within bounds; undefined for a scalar that no kind is. */
export function kindOfScalar(scalar: string, bounds: Bounds): AnyKind | undefined {
  return Object.values(KINDS)
    .find((kind) => kind.scalar === scalar)
    ?.within(bounds);
}

function refuseWord(words: readonly string[]): never {
  throw new Error(`A resolver gave a value that is none of ${words.join(', ')}.`);
}

/** The word of a few that somebody may have meant who wrote `sent`, such as `sold` for `SOLD `. */
function nearestWord(sent: string, words: readonly string[]): string | undefined {
  if (sent.length > 100) return undefined; // no word is as long
  const meant = sent.trim().toLowerCase();
  return words.find((one) => one.toLowerCase() === meant);
}

/** All but what JSON takes as it is (RFC 8259 §7): quotes, backslashes, control characters, and halves of characters. */
const TO_ESCAPE = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;
/** Looking costs more than it saves beyond some length. */
const LOOKED_AT_MAX = 100;

function writeText(value: string): string {
  return value.length <= LOOKED_AT_MAX && !TO_ESCAPE.test(value) ? `"${value}"` : JSON.stringify(value);
}
