import type { ApiName } from '../metrics.ts';

/*
 * The types of Koa's `ctx.state`, by which rooms share facts about a request.
 * https://github.com/DefinitelyTyped/DefinitelyTyped/blob/master/types/koa/index.d.ts
 */
declare module 'koa' {
  interface DefaultState {
    /** The `X-Request-Id` of the answer; the log has it too. */
    requestId: string;
    /** Where the request comes from; absent when the connection ended before the request was served. */
    clientAddress: string | undefined;
    /** The base address of this service for the client, without a trailing slash: PUBLIC_URL if it is set. */
    baseUrl: string;
    /** The id of the API key; absent until the key was found valid. */
    keyId: string;
    /** The owner of the key: the same for a key and its replacements by `rotate`. */
    ownerId: string;
    /** False for a read-only key. */
    mayWrite: boolean;
    /** When the cached key expires, in ms of `performance.now()`. */
    keyValidUntil: number;
    /** How long the request waited for the look-up of its key and for the count of its rate limit, in ms. */
    keyCheckMs?: number;
    /** Whether the request may have changed data: then its answer must not be replaced by a refusal. */
    changes?: boolean;
    api?: ApiName;
    /** The name in log and metrics: a REST operation, a GraphQL operation type, or another route. */
    operation?: string;
  }
}
