import type { IncomingHttpHeaders } from 'node:http';
import type { Deadline } from '../../lib/deadline/deadline.ts';
import type { Caller } from '../keys/api-key.ts';
import type { ApiName } from '../metrics.ts';

/** A request whose header has been read: a plain value, but for `told`. */
export interface Call {
  /** As it was sent; HEAD, too. */
  readonly method: string;
  /** The path of the target, still percent-encoded, without the query. */
  readonly path: string;
  /** The query of the target without its `?`; empty without one. */
  readonly querystring: string;
  readonly headers: IncomingHttpHeaders;
  /** The `X-Request-Id` of the answer; the log has it too. */
  readonly requestId: string;
  /** Where the request comes from. */
  readonly clientAddress: string;
  /** The base address of this service for the client, without a trailing slash: PUBLIC_URL if it is set. */
  readonly baseUrl: string;
  /** What the request log and the metrics tell of it; filled in as it becomes known. */
  readonly told: { api: ApiName; operation?: string | undefined; keyId?: string };
}

/** A call that has passed the checks of key, right, rate, body and share. */
export interface AdmittedCall extends Call {
  readonly caller: Caller;
  readonly params: PathParams;
  /** The bytes of the body; empty when the route takes none. */
  readonly body: Buffer;
  /** When the request must be answered. */
  readonly deadline: Deadline;
  /**
   * Reserves memory for an answer of so many objects, before they are read by so many `reads` at once (by default one). Gives a
   * promise when the request must wait for memory, and its key is checked again, else undefined. ApiError `too_many_requests`,
   * `unauthorized`, `service_unavailable`.
   */
  readonly reserve: (objects: number, reads?: number) => Promise<unknown> | undefined;
}

/** The decoded path parameters of a request, by their names. */
export type PathParams = Readonly<Record<string, string>>;

/** Response headers by their names. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** An answer: a plain value. HEAD gets it without its body. */
export interface Answer {
  readonly status: number;
  readonly headers?: AnswerHeaders;
  readonly body?: string | Buffer | undefined;
  /** Whether the request may have changed data, where the route does not say so: its answer is never replaced by a refusal. */
  readonly tellsChange?: boolean;
}

/** A route that needs a key. Its handler runs after the checks of key, right, rate, body and share. */
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
  /** Headers of every answer, refusals included. */
  readonly headers?: AnswerHeaders;
  readonly handle: (call: AdmittedCall) => Promise<Answer>;
}

/** A route that needs no key, for GET and HEAD. It serves nothing from the store. */
export interface OpenRoute {
  readonly path: string;
  readonly operation: string;
  /** True when an API has the same path: then only requests that prefer HTML get this route. */
  readonly sharesPath?: boolean;
  readonly handle: (call: Call) => Promise<Answer>;
}

/** An open route that serves a text in UTF-8. */
export function textRoute(
  path: string,
  operation: string,
  type: string,
  write: (call: Call) => string | Promise<string>,
): OpenRoute {
  return {
    path,
    operation,
    async handle(call) {
      const body = await write(call);
      return { status: 200, headers: { 'Content-Type': `${type}; charset=utf-8` }, body };
    },
  };
}

/** An answer with further headers. `Link` and `Vary` are lists: each side adds to them. */
export function withHeaders(answer: Answer, ...more: readonly (AnswerHeaders | undefined)[]): Answer {
  if (more.every((side) => side === undefined)) return answer;
  const headers: Record<string, string | readonly string[]> = {};
  for (const side of [...more, answer.headers]) {
    for (const name in side) {
      const before = name === 'Link' || name === 'Vary' ? headers[name] : undefined;
      headers[name] = before === undefined ? (side[name] ?? '') : [before, side[name] ?? ''].flat();
    }
  }
  return { ...answer, headers };
}
