import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import type { Deadline } from '../deadline.ts';

/** The decoded path parameters of a request, by their names. */
export type PathParams = Readonly<Record<string, string>>;

/** A request that has passed all checks of the frame. */
export interface AdmittedRequest {
  readonly params: PathParams;
  /** The bytes of the body; empty when the route takes none. */
  readonly body: Buffer;
  /** When the request must be answered. */
  readonly deadline: Deadline;
  /**
   * Reserves memory for an answer of so many objects, before they are read by so many `reads` at once (by default one). Gives a
   * promise when the request must wait for memory, else undefined. ApiError `too_many_requests`.
   */
  readonly reserve: (objects: number, reads?: number) => Promise<void> | undefined;
}

/** A route that needs a key. The frame checks key, rights and share before `handle`. */
export interface Route {
  readonly methods: readonly string[];
  /** The path with parameters in braces. Case and a trailing slash count. */
  readonly path: string;
  /** Its name in log and metrics; absent when the handler sets it for each request. */
  readonly operation?: string;
  /** Whether it reads a body, which must be JSON. */
  readonly takesBody: boolean;
  /** Refuses a header before the body is read. */
  readonly checkHeaders?: (headers: IncomingHttpHeaders) => void;
  /** Whether it always changes data: then it refuses read-only keys. */
  readonly changes: boolean;
  /** Whether its use is counted as deprecated use. */
  readonly isDeprecated: boolean;
  /** Headers of every answer, including refusals. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly handle: (ctx: Context, request: AdmittedRequest) => Promise<void>;
}

/** A route that needs no key, for GET and HEAD. It serves nothing from the store. */
export interface OpenRoute {
  readonly path: string;
  readonly operation: string;
  /** True when an API has the same path: then only requests that prefer HTML get this route. */
  readonly sharesPath?: boolean;
  readonly handle: (ctx: Context) => unknown;
}
