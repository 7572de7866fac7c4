import { tracingChannel } from 'node:diagnostics_channel';
import type { DocumentNode } from 'graphql';
import { afterFile } from '../support/engines.ts';

/** Watches, from now on, what graphql-js executes, by its own channel: planned execution does not come there. */
export function operationsOfGraphqlJs(): { readonly documents: readonly DocumentNode[]; count(): number } {
  const documents: DocumentNode[] = [];
  const start = (message: unknown) => {
    documents.push((message as { document: DocumentNode }).document); // graphql's GraphQLExecuteContext
  };
  const channel = tracingChannel('graphql:execute');
  channel.start.subscribe(start);
  afterFile(() => void channel.start.unsubscribe(start));
  return { documents, count: () => documents.length };
}
