import type { ApiName } from '../metrics.ts';

/*
 * What the rooms tell each other of a request, on Koa's `ctx.state`: typed here, once.
 * https://github.com/DefinitelyTyped/DefinitelyTyped/blob/master/types/koa/index.d.ts
 */
declare module 'koa' {
  interface DefaultState {
    /** The answer's `X-Request-Id`, which the log has too. */
    requestId: string;
    /** The API key that was let in; absent before that. */
    keyId: string;
    /** Whose it is: the same for a key and for those that replaced it. */
    ownerId: string;
    /** Whether that key may change anything. */
    mayWrite: boolean;
    /** Until when that key is believed to be valid, in ms of `performance.now()`. */
    keyValidUntil: number;
    /** How long the request waited for the look-up of its key and for its count, in ms; absent where there were none. */
    keyCheckMs?: number;
    /** Whether the answer tells of a change: then it must not be called refused. */
    changes?: boolean;
    api?: ApiName;
    /** The REST operation, GraphQL's type of operation, or what else is served. */
    operation?: string;
  }
}
