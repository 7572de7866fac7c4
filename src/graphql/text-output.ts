import type { GraphQLError } from 'graphql';
import { isPromise, type Output } from '../schema/completion.ts';
import type { FieldPlan, SelectionPlan } from '../schema/plan.ts';

/** How much an answer may still grow, in characters; and what is thrown when it becomes too large. */
export interface Space {
  left: number;
  readonly tooLarge: GraphQLError;
}

/** Something within rows is not as the schema has it: who completes them field by field finds what it is, and where. */
const IRREGULAR = new Error('Something is not as the schema has it.');
const TOO_LONG = new Error('The text is too long.');

/** Completed values as JSON: gives the output of a run, with a memory for the lists that runs share. */
export function createTextOutput(): (space: Space) => Output<string> {
  const writeShared = createListWriter();
  return (space) => {
    const count = (text: string, length = text.length): string => {
      space.left -= length;
      if (space.left < 0) throw space.tooLarge;
      return text;
    };
    return {
      nothing: 'null',
      leaf: (field, value) => count(field.writeLeaf(value)),
      exposed(field, value) {
        let text: string;
        try {
          text = writeObjects(field, value, space.left, writeShared);
        } catch (thrown) {
          if (thrown === TOO_LONG) throw space.tooLarge;
          return undefined; // IRREGULAR, or what a leaf's writer throws
        }
        return count(text);
      },
      object({ fields, tail }, values) {
        let text = '';
        let length = tail.length;
        for (const [index, { head }] of fields.entries()) {
          text += head + values[index];
          length += head.length;
        }
        return count(text + tail, length); // the values are counted
      },
      list: (items) => count(`[${items.join()}]`, items.length + 1),
    };
  };
}

/** Writes the list of a field; throws IRREGULAR, TOO_LONG beyond `most` characters, and what a leaf's writer throws. */
type WriteList = (field: FieldPlan, list: unknown, most: number) => string;

/** How many texts of lists are kept, and how long they may be, in characters. */
const LISTS_MAX = 4;
const LIST_LENGTH_MAX = 65_536;

/** Requests that shared one query got the same page, one right after the other: its text is written once. A page is frozen. */
function createListWriter(): WriteList {
  const kept: { field: FieldPlan; list: unknown; text: string }[] = [];
  let next = 0;
  return (field, list, most) => {
    for (const known of kept) if (known.list === list && known.field === field) return known.text; // counted by who asks
    const text = writeList(field, list, most);
    if (text.length <= LIST_LENGTH_MAX && Object.isFrozen(list)) kept[next++ % LISTS_MAX] = { field, list, text };
    return text;
  };
}

/** What a field gives whose selection needs no resolver. */
function writeObjects(field: FieldPlan, value: unknown, most: number, write: WriteList): string {
  if (field.isList) return write(field, value, most);
  if (field.selection === undefined) throw IRREGULAR;
  return writeObject(field.selection, value, most);
}

function writeList({ selection, isItemNullable }: FieldPlan, list: unknown, most: number): string {
  if (!Array.isArray(list) || selection === undefined) throw IRREGULAR;
  let text = '[';
  for (const item of list as readonly unknown[]) {
    if (text.length > 1) text += ',';
    text += item === null && isItemNullable ? 'null' : writeObject(selection, item, most - text.length);
  }
  return `${text}]`;
}

function writeObject({ fields, tail }: SelectionPlan, value: unknown, most: number): string {
  if (typeof value !== 'object' || value === null || value instanceof Error || isPromise(value)) throw IRREGULAR;
  const object = value as Readonly<Record<string, unknown>>; // what gives objects gave it
  let text = '';
  for (const field of fields) {
    const content = object[field.property];
    if (content === null || content === undefined) {
      if (!field.isNullable) throw IRREGULAR;
      text += `${field.head}null`;
    } else if (field.selection === undefined) {
      text += field.head + field.writeLeaf(content);
    } else {
      text += field.head + writeObjects(field, content, most - text.length, writeList);
    }
    if (text.length > most) throw TOO_LONG;
  }
  return text + tail;
}
