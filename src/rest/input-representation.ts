import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { ApiError } from '../errors.ts';
import { boundsOf } from '../schema/rules.ts';
import { isJsonObject } from '../web/json-body.ts';
import { nameInput, quoteInput } from './input-words.ts';
import { type Json, type Leaf, refer, representLeaf } from './leaf-representation.ts';

/** How an argument or a field of an input object looks in a JSON body. */
export interface Input {
  readonly name: string;
  /** Absent, `fallback` is taken, unless it is required. */
  readonly isRequired: boolean;
  readonly fallback: unknown;
  /** What OpenAPI says of it. */
  readonly schema: Json;
  /** The named schemas that `schema` refers to. */
  readonly components: Json;
  /** What is allowed, as messages say it. */
  readonly allowed: string;
  /** The value of a JSON value; `name` is the way to it. ApiError `bad_request` names it and what is allowed. */
  readJson(value: unknown, name: string): unknown;
}

type Shape = Pick<Input, 'schema' | 'components' | 'allowed' | 'readJson'>;

/** The representation of an argument or an input field in a body. */
export function representInput(input: GraphQLArgument | GraphQLInputField): Input {
  const { name, type, description, defaultValue } = input;
  const { schema, ...shape } = representType(type, input);
  return {
    name,
    isRequired: isNonNullType(type) && defaultValue === undefined,
    fallback: defaultValue,
    schema: { ...schema, ...(description && { description }) },
    ...shape,
  };
}

/** The leaf that an argument of an address is. */
export function representParameter(argument: GraphQLArgument): Leaf {
  const type = getNullableType(argument.type);
  if (isListType(type)) throw new Error(`${argument.name} is a list, which no input of REST is.`);
  return representLeaf(type, boundsOf(argument));
}

function representType(type: GraphQLInputType, input: GraphQLArgument | GraphQLInputField): Shape {
  const bare = getNullableType(type);
  if (isListType(bare)) throw new Error(`${input.name} is a list, which no input of REST is.`);
  if (isInputObjectType(bare)) return representObject(bare);
  const leaf = representLeaf(getNamedType(bare), boundsOf(input));
  const { schema, components, allowed } = leaf;
  return { schema, components, allowed, readJson: (value, name) => leaf.fromJson(value) ?? refuse(leaf, name, value) };
}

function representObject(type: GraphQLInputObjectType): Shape {
  const fields = Object.values(type.getFields()).map(representInput);
  const name = type.name.replace(/^(New.+)Input$/, '$1'); // LoanInput stays: Loan may be what is given
  const component = {
    type: 'object',
    description: `${type.description} Unknown properties are ignored; null is no valid value.`,
    required: fields.filter(({ isRequired }) => isRequired).map((field) => field.name),
    properties: Object.fromEntries(fields.map((field) => [field.name, field.schema])),
  };
  return {
    schema: refer(name),
    components: Object.assign({}, ...fields.map(({ components }) => components), { [name]: component }),
    allowed: 'a JSON object',
    readJson(value, way) {
      if (!isJsonObject(value)) throw new ApiError('bad_request', `${way || 'The body'} must be a JSON object.`);
      const values: Record<string, unknown> = {};
      for (const field of fields) values[field.name] = readField(field, value, way);
      return values;
    },
  };
}

function readField(input: Input, object: Json, way: string): unknown {
  const { name, isRequired, fallback, allowed } = input;
  const field = way === '' ? name : `${way}.${name}`;
  if (Object.hasOwn(object, name)) return input.readJson(object[name], field);
  if (isRequired) throw new ApiError('bad_request', `${field} is required: ${allowed}.`);
  return fallback;
}

function refuse(leaf: Leaf, name: string, value: unknown): never {
  const meant = leaf.suggest(value);
  const instead = meant === undefined ? undefined : leaf.write(leaf.fromText(meant));
  const rule = `${name} must be ${leaf.allowed}`;
  const came = nameInput(value);
  if (instead === undefined) throw new ApiError('bad_request', `${rule}, not ${came}.`);
  const isText = instead.startsWith('"');
  throw new ApiError('bad_request', `${rule}${isText ? '' : ', not a string'}: ${instead} instead of ${came}.`);
}

/** The refusal of a parameter whose text is not allowed. */
export function refuseText(leaf: Leaf, name: string, text: string): ApiError {
  const meant = leaf.suggest(text);
  if (meant === undefined) return notAllowed(name, text, leaf.allowed);
  return new ApiError('bad_request', `${name}=${quoteInput(text)}: did you mean ${meant}?`);
}

/** The refusal of a parameter whose text is not what is allowed. */
export function notAllowed(name: string, text: string, allowed: string): ApiError {
  return new ApiError('bad_request', `${name}=${quoteInput(text)} is not allowed: ${allowed}.`);
}
