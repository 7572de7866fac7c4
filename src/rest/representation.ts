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
import { ApiError } from '../errors.ts';
import type { AnyKind, Bounds } from '../kinds.ts';
import { loadedKey } from '../schema/compile.ts';
import { leafKind } from '../schema/field-shape.ts';
import type { FieldPlan, SelectionPlan } from '../schema/plan.ts';
import { boundsOf } from '../schema/rules.ts';
import { isJsonObject } from '../web/json-body.ts';
import { refuseJson } from './input-refusals.ts';

/** A part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** The OpenAPI description of a type: `components` are the named schemas that `schema` refers to. */
interface Described {
  readonly schema: Json;
  readonly components: Json;
}

/** A scalar or enum: its kind and its OpenAPI description. */
type Leaf = AnyKind & Described;

/** A part of an answer; `write` writes its value as JSON. */
export type Output = Described & { write(value: unknown): string };

/** A part of a JSON body. `readJson` throws ApiError `bad_request`, whose message has `path` and `allowed`. */
export type Input = Described & { readonly allowed: string; readJson(value: unknown, path: string): unknown };

/** The schema that refers to the named one. */
export function refer(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** Represents a leaf type within bounds. Throws Error, which stops the start, for a type of no kind. */
export function representLeaf(type: GraphQLNamedType, bounds: Bounds = {}): Leaf {
  const kind = leafKind(type, bounds);
  if (!(type instanceof GraphQLEnumType)) return { ...kind, components: {} };
  const words = type.getValues().map(({ name, description }) => `\`${name.toLowerCase()}\`: ${description}`);
  const component = { ...kind.schema, description: [type.description, ...words].join(' ') };
  return { ...kind, schema: refer(type.name), components: { [type.name]: component } };
}

/** Represents an argument or an input field that is a leaf. Throws Error, which stops the start, for a list. */
export function representInputLeaf(input: GraphQLArgument | GraphQLInputField): Leaf {
  const type = getNullableType(input.type);
  if (isListType(type)) throw new Error(`${input.name} is a list, which no input of REST is.`);
  return representLeaf(type, boundsOf(input));
}

/** Represents an input object as a JSON object; `NewBookInput` has the schema `NewBook`. */
export function representInputObject(type: GraphQLInputObjectType): Input {
  const fields = Object.values(type.getFields()).map((field) => {
    const { name, defaultValue } = field;
    const isRequired = isNonNullType(field.type) && defaultValue === undefined;
    return { name, description: field.description, defaultValue, isRequired, input: representInputField(field) };
  });
  const name = type.name.replace(/^(New.+)Input$/, '$1'); // without `New`, `Input` stays: `Loan` may be the name of an answer
  const component = {
    type: 'object',
    description: `${type.description} Unknown properties are ignored; null is no valid value.`,
    required: fields.filter(({ isRequired }) => isRequired).map((field) => field.name),
    properties: Object.fromEntries(fields.map((field) => [field.name, describe(field, field.input)])),
  };
  return {
    schema: refer(name),
    components: Object.assign({}, ...fields.map(({ input }) => input.components), { [name]: component }),
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

function representInputField(field: GraphQLInputField): Input {
  const type = getNullableType(field.type);
  if (isInputObjectType(type)) return representInputObject(type);
  const leaf = representInputLeaf(field);
  return { ...leaf, readJson: (value, path) => leaf.fromJson(value) ?? refuseJson(leaf, path, value) };
}

/** Represents a selection as a JSON object with the schema `name`; members that are null are left out. */
function representObject(selection: SelectionPlan, name = selection.type.name): Output {
  const { type } = selection;
  const members = selection.fields.map((selected, index) => {
    const { responseName, field } = selected;
    const prefix = `${index === 0 ? '{' : ','}${JSON.stringify(responseName)}:`;
    return { responseName, field, prefix, key: loadedKey(selection, selected), ...representOutput(selected) };
  });
  if (!isNonNullType(members[0]?.field.type)) throw new Error(`The first field asked of ${type.name} is never null.`);
  const component = {
    type: 'object',
    description: type.description,
    required: members.filter(({ field }) => isNonNullType(field.type)).map(({ responseName }) => responseName),
    properties: Object.fromEntries(members.map((member) => [member.responseName, describe(member.field, member)])),
  };
  return {
    schema: refer(name),
    components: Object.assign({}, ...members.map(({ components }) => components), { [name]: component }),
    write(value) {
      const object = value as Json; // the resolver of an object field gives an object
      let text = '';
      for (const { prefix, key, write } of members) {
        const member = object[key] ?? null;
        if (member !== null) text += prefix + write(member);
      }
      return `${text}}`;
    },
  };
}

/** Represents a planned field: a leaf, an object with the schema `name`, or a list of such objects. */
export function representOutput({ field, selection }: Pick<FieldPlan, 'field' | 'selection'>, name?: string): Output {
  if (!selection) return representLeaf(getNamedType(field.type));
  const item = representObject(selection, name);
  return isListType(getNullableType(field.type)) ? representList(item) : item;
}

/** The longest list, in characters: the limit of a GraphQL answer. One object is always shorter, because of BODY_LIMIT. */
const LIST_MAX = 32 * 2 ** 20;

function representList({ schema: items, components, write }: Output): Output {
  return {
    schema: { type: 'array', items },
    components,
    write(value) {
      let text = '';
      // the resolver of a list field gives an array
      for (const item of value as readonly unknown[]) {
        text += (text === '' ? '' : ',') + write(item);
        if (text.length > LIST_MAX) {
          const message = `The answer would be longer than ${LIST_MAX} characters: ask for a smaller limit.`;
          throw new ApiError('bad_request', message);
        }
      }
      return `[${text}]`;
    },
  };
}

/** Gives a list its own named schema: `Books` for items of `Book`, `Categories` for those of `Category`. */
export function nameList(list: Output, itemName: string, more: Json): Output {
  const name = /[^aeiou]y$/.test(itemName) ? `${itemName.slice(0, -1)}ies` : `${itemName}s`;
  const component = { type: 'array', ...more, items: list.schema.items };
  return { ...list, schema: refer(name), components: { ...list.components, [name]: component } };
}

function describe({ description }: { readonly description?: string | null | undefined }, { schema }: Described): Json {
  return { ...schema, ...(description && { description }) };
}
