import http, { type IncomingHttpHeaders } from 'node:http';
import https, { type AgentOptions } from 'node:https';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { DRAIN_MS } from '../../src/gateway/deadlines.ts';
import { afterFile } from './engines.ts';
import { msSince } from './stall-clock.ts';

/** An answer as a load client sees it. */
export interface LoadAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Whether the gateway ends the connection with this answer. */
  readonly closes: boolean;
  /** How long it took, without what held up this process. */
  readonly ms: number;
}

/** A client with one kept connection that retries nothing: whatever the network does to it, it rejects. */
export interface LoadClient {
  ask(method: string, path: string, body?: string | Readable, headers?: Record<string, string>): Promise<LoadAnswer>;
  /** Closes the connection. */
  close(): void;
}

/** STRESS_SECONDS makes the load, fuzz and soak runs that long; without it they are as short as CI wants them. */
export const STRESS_SECONDS = Number(process.env.STRESS_SECONDS ?? 0);

/** No answer within this time is a hang, in ms. */
const HANG_MS = 60_000;

/**
 * A client of the gateway at `url`, with the key. It opens a new connection only after the old one has ended. `tls` says
 * what an https client believes.
 */
export function connectClient(url: string, key: string, tls: AgentOptions = {}): LoadClient {
  const { Agent, request } = url.startsWith('https:') ? https : http;
  const agent = new Agent({ ...tls, keepAlive: true, maxSockets: 1 });
  afterFile(() => agent.destroy());
  const ask: LoadClient['ask'] = (method, path, body, headers = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<LoadAnswer>();
    const startedAt = performance.now();
    const sent = request(url + path, {
      method,
      agent,
      timeout: HANG_MS,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(typeof body === 'string' && { 'content-length': Buffer.byteLength(body) }),
        ...headers,
      },
    });
    sent.once('timeout', () => sent.destroy(new Error(`no answer to ${method} ${path} for ${HANG_MS} ms`)));
    sent.on('error', reject); // more than one may come
    sent.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('error', reject);
      response.once('end', () => {
        const { statusCode = 0, headers: received } = response;
        const closes = received.connection === 'close';
        resolve({ status: statusCode, headers: received, text, closes, ms: msSince(startedAt) });
      });
    });
    if (body instanceof Readable) body.pipe(sent);
    else sent.end(body);
    return promise;
  };
  return { ask, close: () => agent.destroy() };
}

/**
 * Whether a request may have failed because its connection was closed as idle by a gateway that stops: so much time went by since the
 * request before, and a client cannot know that it is late.
 */
export function isIdleClose(error: unknown, askedBefore: number): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return performance.now() - askedBefore >= DRAIN_MS && ['ECONNRESET', 'EPIPE', 'ECONNREFUSED'].includes(code);
}

/** What a database, or the pool before it, says of what took too long. */
const LATE =
  /in time|time is left|Timeout acquiring|database is locked|Lock wait timeout|max_statement_time|execution time exceeded/;

/** The errors of a gateway's log, without those of 503s that came of a busy machine: something was late. */
export function faultsOf(log: string): string[] {
  const errors = log.match(/^\{"level":[56]0.*$/gm) ?? []; // error and fatal
  const isUnavailable = (line: string) =>
    /The service is temporarily unavailable|The database does not answer/.test(line);
  return errors.filter((line) => !(isUnavailable(line) && LATE.test(line)));
}

/** The body that creates an animal. */
export function petBody(name: string): string {
  return JSON.stringify({ name, categoryId: 1 });
}

/**
 * Whether this is the answer of a process that was held up and refused a request for that, 503 or after a wait for its share 429:
 * no test can rule it out.
 */
export function isShed(text: string): boolean {
  return /The service is overloaded|Too many requests of this API key are waiting/.test(text);
}

/**
 * Whether a request was refused on either API, 503 or as `isShed` tells. Of one that was shed nothing was done; another 503 may be of a
 * create that is done all the same.
 */
export function isRefused({ status, text }: { readonly status: number; readonly text: string }): boolean {
  return status === 503 || isShed(text) || text.includes('"SERVICE_UNAVAILABLE"');
}

/** Asks again and again until `condition` gives something, and gives that; fails after `limitMs` by the stall clock. */
export async function eventually<T>(
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs: number,
  what: string,
): Promise<T> {
  for (const startedAt = performance.now(); ; await delay(20)) {
    const found = await condition();
    if (found !== undefined && found !== false) return found;
    if (msSince(startedAt) > limitMs) throw new Error(`not within ${limitMs} ms: ${what}`);
  }
}

/** Whether work ends well. */
export const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/** What `ask` gives, asked again while `isRefusal` says so; any other answer is the last one. */
function askAgain<T>(ask: () => Promise<T>, isRefusal: (answer: T) => boolean, what: string): Promise<T> {
  const once = async () => {
    const answer = await ask();
    return !isRefusal(answer) && answer;
  };
  return eventually(once, 30_000, what);
}

/** What `ask` gives, asked again while a process that was held up refuses it: nothing was done of a refused request. */
export function unlessShed<T extends { readonly text: string }>(ask: () => Promise<T>): Promise<T> {
  return askAgain(ask, ({ text }) => isShed(text), 'the service is not overloaded');
}

/** What `ask` gives, asked again while it is refused, as by a machine that is held up. */
export function served<T extends { readonly status: number; readonly text: string }>(
  ask: () => Promise<T>,
): Promise<T> {
  return askAgain(ask, isRefused, 'it is served');
}

/** The sum of a metric's series, of a page in Prometheus's text format, that have all of the labels. */
export function sumMetric(page: string, name: string, ...labels: string[]): number {
  const series = page.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  const chosen = series.filter((line) => labels.every((label) => line.includes(label)));
  return chosen.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** The page of metrics, asked again while it is 503: a primary that is held up, or starts a worker, gives no page in time. */
export async function readMetrics(url: string): Promise<string> {
  const once = async () => {
    const answer = await fetch(`${url}/metrics`, { headers: { connection: 'close' } });
    const text = await answer.text();
    if (answer.status !== 200 && answer.status !== 503) throw new Error(`the metrics are ${answer.status}: ${text}`);
    return answer.status === 200 && text;
  };
  return eventually(once, 30_000, 'the metrics');
}

/** What a gateway process holds, by its own metrics. */
export async function readFootprint(url: string): Promise<{ residentMb: number; heapMb: number; openFiles: number }> {
  const page = await readMetrics(url);
  return {
    residentMb: sumMetric(page, 'process_resident_memory_bytes') / 2 ** 20,
    heapMb: sumMetric(page, 'nodejs_heap_size_used_bytes') / 2 ** 20,
    openFiles: sumMetric(page, 'process_open_fds'),
  };
}
