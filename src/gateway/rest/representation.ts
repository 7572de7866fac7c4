import { isDeepStrictEqual } from 'node:util';
import {
  type GraphQLArgument,
  GraphQLEnumType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { FieldPlan, SelectionPlan } from '../../lib/graphql-plan/graphql-plan.ts';
import { ApiError } from '../errors.ts';
import { isJsonObject } from '../http/json-body.ts';
import type { AnyKind, Bounds } from '../kinds.ts';
import { quoteInput } from '../masking.ts';
import { boundsOf } from '../schema/field-checks.ts';
import { leafKind } from '../schema/schema.ts';
import type { CompiledOperation } from './compile.ts';

/** A part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** The named schemas of an OpenAPI document. The functions below add a schema for each type that they represent. */
export type Schemas = Record<string, Json>;

/** A JSON Schema: whole, and as the OpenAPI document has it: a reference to a named schema if the type is an enum or an object. */
export interface Described {
  readonly schema: Json;
  readonly reference: Json;
}

/** How a JSON body, or a property of it, is described and read. `readJson` throws ApiError `bad_request`; `path` is for its message. */
interface Input extends Described {
  readonly allowed: string;
  readJson(value: unknown, path: string): unknown;
}

/** A reference to a named schema. */
export function refer(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function addSchema(schemas: Schemas, name: string, schema: Json): Json {
  if (name in schemas && !isDeepStrictEqual(schemas[name], schema)) {
    throw new Error(
      `The documents of the table give ${name} in two forms: let them ask the same of it, or give the answer a schemaName.`,
    );
  }
  schemas[name] = schema;
  return refer(name);
}

/** The kind of a leaf type within bounds. Adds an enum to `schemas`. Throws Error, which stops the start, for a type without a kind. */
export function representLeaf(schemas: Schemas, type: GraphQLNamedType, bounds: Bounds = {}): AnyKind & Described {
  const kind = leafKind(type, bounds);
  if (!(type instanceof GraphQLEnumType)) return { ...kind, reference: kind.schema };
  const words = type.getValues().map(({ name, description }) => `\`${name.toLowerCase()}\`: ${description}`);
  const schema = { ...kind.schema, description: [type.description, ...words].join(' ') };
  return { ...kind, schema, reference: addSchema(schemas, type.name, schema) };
}

/** The kind of an argument or input field that is a leaf. Throws Error, which stops the start, for a list. */
export function representInputLeaf(schemas: Schemas, input: GraphQLArgument | GraphQLInputField) {
  const type = getNullableType(input.type);
  if (isListType(type)) throw new Error(`${input.name} is a list, which no input of REST is.`);
  return representLeaf(schemas, type, boundsOf(input));
}

/** The schema of a leaf, with the default of its argument or input field. */
export function withDefault(leaf: AnyKind & Described, { defaultValue }: Pick<GraphQLArgument, 'defaultValue'>) {
  const standard = (defaultValue ?? null) === null ? {} : { default: JSON.parse(leaf.write(defaultValue)) };
  return { schema: { ...leaf.schema, ...standard }, reference: { ...leaf.reference, ...standard } };
}

/** Represents an input object as a JSON object. The schema of `NewBookInput` is called `NewBook`. Throws Error for a @oneOf. */
export function representInputObject(schemas: Schemas, type: GraphQLInputObjectType): Input {
  if (type.isOneOf) throw new Error(`${type.name} is @oneOf, which no input of REST is.`);
  const fields = Object.values(type.getFields()).map((field) => {
    const { name, description, defaultValue } = field;
    const isRequired = isNonNullType(field.type) && defaultValue === undefined;
    return { name, description, defaultValue, isRequired, input: representInputField(schemas, field) };
  });
  const name = type.name.replace(/^(New.+)Input$/, '$1'); // `LoanInput` keeps its name: `Loan` may be an answer's schema
  const schemaWith = (form: keyof Described) => ({
    type: 'object',
    description: `${type.description} Unknown properties are ignored; null is no valid value.`,
    required: fields.filter(({ isRequired }) => isRequired).map((field) => field.name),
    properties: Object.fromEntries(fields.map((field) => [field.name, describe(field.input[form], field.description)])),
  });
  return {
    schema: schemaWith('schema'),
    reference: addSchema(schemas, name, schemaWith('reference')),
    allowed: 'a JSON object',
    readJson(value, path) {
      if (!isJsonObject(value)) throw new ApiError('bad_request', `${path || 'The body'} must be a JSON object.`);
      const values: Record<string, unknown> = {};
      for (const { name: member, isRequired, defaultValue, input } of fields) {
        const memberPath = path === '' ? member : `${path}.${member}`;
        const isGiven = Object.hasOwn(value, member);
        if (!isGiven && isRequired) throw new ApiError('bad_request', `${memberPath} is required: ${input.allowed}.`);
        values[member] = isGiven ? input.readJson(value[member], memberPath) : defaultValue;
      }
      return values;
    },
  };
}

function representInputField(schemas: Schemas, field: GraphQLInputField): Input {
  const type = getNullableType(field.type);
  if (isInputObjectType(type)) return representInputObject(schemas, type);
  const leaf = representInputLeaf(schemas, field);
  const readJson = (value: unknown, path: string) => leaf.fromJson(value) ?? refuseJson(leaf, path, value);
  return { ...leaf, ...withDefault(leaf, field), readJson };
}

/** Throws ApiError `bad_request` for a JSON value that a leaf does not allow. `path` is the path of the property in the body. */
function refuseJson(leaf: AnyKind, path: string, value: unknown): never {
  const suggested = leaf.suggest(value);
  const rule = `${path} must be ${leaf.allowed}`;
  if (suggested === undefined) throw new ApiError('bad_request', `${rule}, not ${nameJson(value)}.`);
  const instead = leaf.write(leaf.fromText(suggested));
  const type = instead.startsWith('"') ? '' : ', not a string';
  throw new ApiError('bad_request', `${rule}${type}: ${instead} instead of ${nameJson(value)}.`);
}

function nameJson(value: unknown): string {
  if (typeof value === 'string') return `"${quoteInput(value)}"`;
  if (Array.isArray(value)) return 'an array';
  if (isJsonObject(value)) return 'an object';
  return quoteInput(String(value));
}

/** Makes the ApiError `bad_request` for the text of a parameter that its leaf does not allow; it may suggest an allowed text. */
export function textRefusal(leaf: AnyKind, name: string, text: string): ApiError {
  const suggested = leaf.suggest(text);
  if (suggested === undefined) return notAllowed(name, text, leaf.allowed);
  return new ApiError('bad_request', `${name}=${quoteInput(text)}: did you mean ${suggested}?`);
}

/** Makes the ApiError `bad_request` for the text of a parameter. `allowed` describes the allowed values. */
export function notAllowed(name: string, text: string, allowed: string): ApiError {
  return new ApiError('bad_request', `${name}=${quoteInput(text)} is not allowed: ${allowed}.`);
}

/** Adds the schema `name` of a selection: a JSON object that omits null properties. So a nullable field is not required. */
function objectSchema(schemas: Schemas, selection: SelectionPlan, name = selection.type.name): Json {
  const { type, fields } = selection;
  if (fields[0]?.isNullable)
    throw new Error(`The first field asked of ${type.name} must be one that is never null, such as its id.`);
  const properties = fields.map((planned) => [
    planned.responseName,
    describe(outputSchema(schemas, planned), planned.field.description),
  ]);
  return addSchema(schemas, name, {
    type: 'object',
    description: type.description,
    required: fields.filter(({ isNullable }) => !isNullable).map(({ responseName }) => responseName),
    properties: Object.fromEntries(properties),
  });
}

/** The schema of a planned field. `name` is the name of its object's schema; by default that of the type. */
function outputSchema(schemas: Schemas, planned: Pick<FieldPlan, 'field' | 'selection'>, name?: string): Json {
  const { field, selection } = planned;
  const type = getNullableType(field.type);
  if (isListType(type) && !isNonNullType(type.ofType))
    throw new Error(`The items of ${field.name} may be null, which REST does not know.`);
  if (!selection) return representLeaf(schemas, getNamedType(type)).reference;
  const items = objectSchema(schemas, selection, name);
  return isListType(type) ? { type: 'array', items } : items;
}

/**
 * The schema of an operation's answer. `name` is the name of its objects' schema; by default that of their type. A list has a
 * named schema too, in the plural: `Books` for items of `Book`, `Categories` for items of `Category`.
 */
export function answerSchema(schemas: Schemas, compiled: CompiledOperation, name?: string): Json {
  const { field, selection, variables } = compiled;
  const answer = outputSchema(schemas, compiled, name);
  if (!selection || !isListType(getNullableType(field.type))) return answer;
  const limit = variables.find(({ argument }) => argument.name === 'limit');
  const { maximum: maxItems } = limit ? boundsOf(limit.argument) : {};
  const itemName = name ?? selection.type.name;
  const listName = /[^aeiou]y$/.test(itemName) ? `${itemName.slice(0, -1)}ies` : `${itemName}s`;
  return addSchema(schemas, listName, { type: 'array', description: field.description, maxItems, items: answer.items });
}

function describe(schema: Json, description: string | null | undefined): Json {
  return { ...schema, ...(description && { description }) };
}
