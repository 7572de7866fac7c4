import { tracingChannel } from 'node:diagnostics_channel';
import { type DocumentNode, print } from 'graphql';
import { afterAll, expect } from 'vitest';

/*
 * Loaded before every test file: what graphql-js executes, by its own channel. Planned execution does not come there, so
 * whatever does must be introspection.
 */

const executed: string[] = [];
let isExpected = false;

tracingChannel('graphql:execute').start.subscribe((message) => {
  executed.push(print((message as { document: DocumentNode }).document)); // graphql's GraphQLExecuteContext
});

afterAll(() => {
  if (!isExpected) expect(executed.filter((text) => !/\b__(?:schema|type)\b/.test(text))).toEqual([]);
});

/** For a test that has graphql-js execute what could be planned: the texts so far, and from now on. */
export function expectGraphqlJs(): readonly string[] {
  isExpected = true;
  return executed;
}
