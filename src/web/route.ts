import type { Context } from 'koa';
import type { Deadline } from '../deadline.ts';

/** The parameters in a path, decoded. */
export type InPath = Readonly<Record<string, string>>;

/** A request that was let in: its key may do this, its body is there, and it has its share of the process. */
export interface AdmittedRequest {
  readonly inPath: InPath;
  /** The body's bytes; none where the route takes no body. */
  readonly body: Buffer;
  /** When the request must have its answer. */
  readonly deadline: Deadline;
  /**
   * Reserves what an answer of so many objects may take in memory, before they are read; undefined when there is room at once.
   * ApiError `too_many_requests`.
   */
  readonly reserve: (objects: number) => Promise<void> | undefined;
}

/** What is served at a path to those who have a key. The frame asks for key, right and share before `handle`. */
export interface Route {
  readonly methods: readonly string[];
  /** As it stands in the request, with parameters in braces: case and a slash at its end count. */
  readonly path: string;
  /** Its name in log and metrics; absent where the request itself decides. */
  readonly operation?: string;
  /** Whether a body is read: it is counted, and must be JSON. */
  readonly takesBody: boolean;
  /** Whether it always changes something: then the key must be one that may. */
  readonly changes: boolean;
  /** Whether its use is counted as that of something deprecated. */
  readonly isDeprecated: boolean;
  /** Headers of every answer, refusals too. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly handle: (ctx: Context, request: AdmittedRequest) => Promise<void>;
}

/** What is served at a path to everybody, for GET and HEAD: no key, nothing of the store. */
export interface OpenRoute {
  readonly path: string;
  readonly operation: string;
  /** Whether only who prefers HTML gets it: another route has the same path. */
  readonly sharesPath?: boolean;
  readonly handle: (ctx: Context) => unknown;
}
