/** Where a text stops being JSON, as people count: both from 1. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
}

/**
 * The first character that no JSON text (RFC 8259) has at its place, or undefined when the text is JSON. JSON.parse tells
 * a place with some of its messages only, and quotes the text. One pass, without recursion.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const index = faultIndex(text);
  if (index === undefined) return undefined;
  const before = text.slice(0, index);
  return { line: before.split('\n').length, column: index - before.lastIndexOf('\n') };
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NUMBER_BEGUN = /-?(?:(?:0|[1-9]\d*)(?:\.(?:\d+(?:[eE][+-]?)?)?|[eE][+-]?)?)?/y;
const WORD = /true|false|null/y;
const PLAIN_TEXT = /[ !#-[\]-\uffff]*/y; // RFC 8259 §7, unescaped
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;

/** Where a sticky pattern, tried at `index`, ends; -1 where it does not match. */
function endOf(pattern: RegExp, text: string, index: number): number {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** What may come next: a value, the name of a member, or what follows one of them. */
type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma or end';

function faultIndex(text: string): number | undefined {
  const closers: string[] = [];
  let expected: Expected = 'value';
  for (let index = endOf(SPACE, text, 0); ; index = endOf(SPACE, text, index)) {
    const character = text.charAt(index);
    if (expected === 'comma or end') {
      const closer = closers.at(-1);
      if (closer === undefined) return index === text.length ? undefined : index;
      if (character === closer) closers.pop();
      else if (character === ',') expected = closer === '}' ? 'name' : 'value';
      else return index;
      index++;
    } else if (expected === 'colon') {
      if (character !== ':') return index;
      expected = 'value';
      index++;
    } else if ((expected === 'name or }' && character === '}') || (expected === 'value or ]' && character === ']')) {
      closers.pop();
      expected = 'comma or end';
      index++;
    } else if (expected.startsWith('value') && (character === '{' || character === '[')) {
      closers.push(character === '{' ? '}' : ']');
      expected = character === '{' ? 'name or }' : 'value or ]';
      index++;
    } else {
      const end =
        expected.startsWith('name') && character !== '"' ? { fault: index } : scalarEnd(text, index, character);
      if (typeof end !== 'number') return end.fault;
      expected = expected.startsWith('name') ? 'colon' : 'comma or end';
      index = end;
    }
  }
}

/** Where a string, a number or a word ends that begins at `index`, or where it is wrong. */
function scalarEnd(text: string, index: number, character: string): number | { fault: number } {
  if (character === '"') return stringEnd(text, index + 1);
  const end = Math.max(endOf(NUMBER, text, index), endOf(WORD, text, index));
  const begun = endOf(NUMBER_BEGUN, text, index); // it matches nothing, too
  return end >= begun && end > index ? end : { fault: begun };
}

function stringEnd(text: string, start: number): number | { fault: number } {
  for (let index = start; ; ) {
    index = endOf(PLAIN_TEXT, text, index);
    if (text.charAt(index) === '"') return index + 1;
    const end = endOf(ESCAPE, text, index);
    if (end < 0) return { fault: index };
    index = end;
  }
}
