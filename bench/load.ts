import { connect, type Socket } from 'node:net';
import type { WireRequest } from './check.ts';

/** Each this many answers, one is parsed and compared; a prime, so that all questions get their turn. */
export const CHECK_EVERY = 61;
const LATENCIES_MAX = 1 << 22; // a minute of 60,000 a second
const RECEIVE_BYTES = 64 * 1024;
const SETTLE_SECONDS = 1;
const SETTLE_SECONDS_MAX = 4;
const SETTLE_REQUESTS = 8000;

/** What one run of load saw. */
export interface LoadResult {
  /** Answers that came within `seconds`: what requests a second are made of. */
  readonly count: number;
  readonly seconds: number;
  /** All answers, those too that were under way at the end: the CPU of a server is for these. */
  readonly answered: number;
  /** Until the last of them. */
  readonly elapsedSeconds: number;
  /** Latencies of all answers in ms, ascending: the longest are those that are under way at the end. */
  readonly latencies: Float64Array;
  /** Answers of a wrong status or content, and the beginning of the first. */
  readonly wrong: number;
  readonly firstWrong: string | undefined;
}

/** An answer as it came. */
export interface Response {
  readonly status: number;
  readonly head: string;
  body(): string;
}

const latencies = new Float64Array(LATENCIES_MAX); // one for all runs: the generator shall not grow
let nextRequest = 0;

/**
 * Keeps `concurrency` requests under way for `seconds`, each on a connection of its own that stays open. Plain
 * sockets: a client library would take more of the two cores than some of the servers. Rejects when a
 * connection breaks.
 */
export async function runLoad(
  port: number,
  requests: readonly WireRequest[],
  concurrency: number,
  seconds: number,
): Promise<LoadResult> {
  let count = 0;
  let answered = 0;
  let wrong = 0;
  let firstWrong: string | undefined;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;

  function judge(request: WireRequest, response: Response): void {
    const isSampled = answered % CHECK_EVERY === 0;
    const isRight =
      response.status === request.status && (!isSampled || request.isRight(response.head, response.body()));
    if (isRight) return;
    wrong++;
    firstWrong ??= `${request.bytes.toString().split('\r\n', 1)} -> ${response.status} ${response.body().slice(0, 300)}`;
  }

  const client = async (): Promise<void> => {
    const connection = await openConnection(port);
    for (;;) {
      const request = requests[nextRequest++ % requests.length];
      const sentAt = performance.now();
      if (request === undefined || sentAt >= endsAt) break;
      const response = await connection.ask(request.bytes);
      const answeredAt = performance.now();
      judge(request, response);
      latencies[answered++] = answeredAt - sentAt;
      if (answeredAt <= endsAt) count++;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: concurrency }, client));
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  return {
    ...{ count, seconds, answered, elapsedSeconds, wrong, firstWrong },
    latencies: latencies.slice(0, answered).sort(),
  };
}

/**
 * Load before a measurement: few callers take other ways through the code than many, and these must be compiled, too. A
 * function is compiled when it was called often, so one caller takes longer than many.
 */
export async function settle(port: number, requests: readonly WireRequest[], concurrency: number): Promise<void> {
  let answered = 0;
  for (let seconds = 0; seconds < SETTLE_SECONDS_MAX && answered < SETTLE_REQUESTS; seconds += SETTLE_SECONDS) {
    answered += (await runLoad(port, requests, concurrency, SETTLE_SECONDS)).answered;
  }
}

/** The status and answer of a single request, for finding out whether a server is ready. */
export async function askOnce(port: number, request: WireRequest): Promise<boolean> {
  const connection = await openConnection(port);
  try {
    const response = await connection.ask(request.bytes);
    return response.status === request.status && request.isRight(response.head, response.body());
  } finally {
    connection.close();
  }
}

/** A connection that stays open, for one request after the other. */
export interface Connection {
  ask(bytes: Buffer): Promise<Response>;
  close(): void;
}

/** Rejects when nobody listens. */
export function openConnection(port: number): Promise<Connection> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    let answer: (response: Response) => void = () => {};
    let fail: (error: Error) => void = reject;
    const onData = (length: number, buffer: Uint8Array): boolean => {
      // A copy: the buffer is filled anew by the next read, and a sampled body is read later.
      const chunk = Buffer.from(buffer.subarray(0, length));
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const response = readResponse(received);
      if (response !== undefined) {
        received = Buffer.alloc(0);
        answer(response);
      }
      return true;
    };
    const socket: Socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: Buffer.allocUnsafe(RECEIVE_BYTES), callback: onData },
    });
    socket.on('error', (error) => fail(error));
    socket.on('close', () => fail(new Error('the server closed a connection')));
    socket.on('connect', () =>
      resolve({
        ask: (bytes) =>
          new Promise((resolveAnswer, rejectAnswer) => {
            answer = resolveAnswer;
            fail = rejectAnswer;
            socket.write(bytes);
          }),
        close: () => socket.destroy(),
      }),
    );
  });
}

/** The response that `data` holds, or undefined while a part of it is missing. */
function readResponse(data: Buffer): Response | undefined {
  const headLength = data.indexOf('\r\n\r\n');
  if (headLength < 0) return undefined;
  const head = data.toString('latin1', 0, headLength);
  const bodyStart = headLength + 4;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  const isChunked = length === undefined;
  const isComplete = isChunked
    ? data.subarray(bodyStart).subarray(-5).toString('latin1') === '0\r\n\r\n'
    : data.length >= bodyStart + Number(length);
  if (!isComplete) return undefined;
  const body = () => (isChunked ? joinChunks(data.subarray(bodyStart)) : data.subarray(bodyStart).toString());
  return { status: Number(head.slice(9, 12)), head, body };
}

/** RFC 9112 §7.1. */
function joinChunks(data: Buffer): string {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = data.indexOf('\r\n', at);
    const size = Number.parseInt(data.toString('latin1', at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(chunks).toString();
    chunks.push(data.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
