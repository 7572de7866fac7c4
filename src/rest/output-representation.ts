import { type GraphQLField, getNamedType, getNullableType, isListType, isNonNullType } from 'graphql';
import { ApiError } from '../errors.ts';
import { loadedKey } from '../schema/compile.ts';
import type { FieldPlan, SelectionPlan } from '../schema/plan.ts';
import { type Json, refer, representLeaf } from './leaf-representation.ts';

/** How what a resolver gives looks in REST. */
export interface Output {
  /** What OpenAPI says of it. */
  readonly schema: Json;
  /** The named schemas that `schema` refers to. */
  readonly components: Json;
  /** A value, in the words of the store, as JSON. */
  write(value: unknown): string;
}

/** The representation of what a document asks of an object, whose schema is called `name`; what is null is left out. */
export function representObject(selection: SelectionPlan, name = selection.type.name): Output {
  const { type, fields } = selection;
  const members = fields.map((asked, index) => {
    const { responseName, field } = asked;
    const prefix = `${index === 0 ? '{' : ','}${JSON.stringify(responseName)}:`;
    return { name: responseName, field, key: loadedKey(selection, asked), prefix, ...representMember(asked) };
  });
  if (!isNonNullType(members[0]?.field.type)) throw new Error(`The first field asked of ${type.name} is never null.`);
  const component = {
    type: 'object',
    description: type.description,
    required: members.filter(({ field }) => isNonNullType(field.type)).map((member) => member.name),
    properties: Object.fromEntries(members.map((member) => [member.name, describe(member.field, member.schema)])),
  };
  return {
    schema: refer(name),
    components: Object.assign({}, ...members.map(({ components }) => components), { [name]: component }),
    write(value) {
      const object = value as Json; // what the resolver of an object field gives
      let text = '';
      for (const { prefix, key, write } of members) {
        const member = object[key] ?? null;
        if (member !== null) text += prefix + write(member);
      }
      return `${text}}`;
    },
  };
}

/** The representation of a list of objects whose schema is called `itemName`, of which at most `maxItems` come. */
export function representPage(item: Output, itemName: string, description: string, maxItems: unknown): Output {
  const name = pluralOf(itemName);
  const component = { type: 'array', description, ...(maxItems !== undefined && { maxItems }), items: item.schema };
  return {
    schema: refer(name),
    components: { ...item.components, [name]: component },
    write: (value) => writeList(value as readonly unknown[], item.write), // what the resolver of a list field gives
  };
}

/** What the schema of a list is called: `Books`, `Categories`. */
function pluralOf(itemName: string): string {
  return /[^aeiou]y$/.test(itemName) ? `${itemName.slice(0, -1)}ies` : `${itemName}s`;
}

function representMember({ field, selection }: FieldPlan): Output {
  if (!selection) return representLeaf(getNamedType(field.type));
  const item = representObject(selection);
  if (!isListType(getNullableType(field.type))) return item;
  return {
    schema: { type: 'array', items: item.schema },
    components: item.components,
    write: (value) => writeList(value as readonly unknown[], item.write), // what a list field gives
  };
}

/** How long a list may be, in characters: as long as an answer of GraphQL, and more than BODY_LIMIT lets one item be. */
const LIST_MAX = 32 * 2 ** 20;

function writeList(values: readonly unknown[], write: (value: unknown) => string): string {
  let text = '[';
  for (let index = 0; index < values.length; index++) {
    text += (index === 0 ? '' : ',') + write(values[index]);
    if (text.length > LIST_MAX) {
      throw new ApiError(
        'bad_request',
        `The answer would be longer than ${LIST_MAX} characters: ask for a smaller limit.`,
      );
    }
  }
  return `${text}]`;
}

function describe({ description }: GraphQLField<unknown, unknown>, schema: Json): Json {
  return { ...schema, ...(description && { description }) };
}
