import { tracingChannel } from 'node:diagnostics_channel';
import { type DocumentNode, print } from 'graphql';

/*
 * What graphql-js executes, by its own channel. Planned execution does not come there, so whatever does must be
 * introspection: setup.ts looks after every test file.
 */

const executed: string[] = [];
let isExpected = false;

const { start } = tracingChannel('graphql:execute');
const note = (message: unknown) => {
  executed.push(print((message as { document: DocumentNode }).document)); // graphql's GraphQLExecuteContext
};
start.subscribe(note);

/** For a test that has graphql-js execute what could be planned: the texts so far, and from now on. */
export function expectGraphqlJs(): readonly string[] {
  isExpected = true;
  return executed;
}

/** Ends the watch; gives what was executed, but for introspection and for what a test expected. */
export function takeUnexpected(): readonly string[] {
  const unexpected = isExpected ? [] : executed.filter((text) => !/\b__(?:schema|type)\b/.test(text));
  start.unsubscribe(note); // files may share a process, and each has a watch of its own
  return unexpected;
}
