import { tracingChannel } from 'node:diagnostics_channel';
import { type DocumentNode, print } from 'graphql';

/*
 * What graphql-js executes, by its own channel. Planned execution does not come there, so whatever does must be
 * introspection: setup.ts looks after every test file.
 */

let executed: string[] = [];
let isExpected = false;

tracingChannel('graphql:execute').start.subscribe((message) => {
  executed.push(print((message as { document: DocumentNode }).document)); // graphql's GraphQLExecuteContext
});

/** For a test that has graphql-js execute what could be planned: the texts so far, and from now on. */
export function expectGraphqlJs(): readonly string[] {
  isExpected = true;
  return executed;
}

/** What was executed since the last call, but for introspection and for what a test expected. */
export function takeUnexpected(): readonly string[] {
  const unexpected = isExpected ? [] : executed.filter((text) => !/\b__(?:schema|type)\b/.test(text));
  executed = [];
  isExpected = false;
  return unexpected;
}
