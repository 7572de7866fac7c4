import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterFile } from './engines.ts';
import { rawPost } from './raw-requests.ts';
import { msSince } from './stall-clock.ts';

/** An HTTP answer with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body to the letter: integers keep their digits here. */
  readonly text: string;
  /** The body by JSON.parse, which rounds integers beyond 2^53. */
  readonly json: any;
}

/** fetch, with the body read. */
export async function send(url: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parseOrUndefined(text) };
}

/** Opens a connection, which may be cut, and ends after the test file. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  afterFile(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** A status line that is no interim one: only such an answer is the last to its request, RFC 9110 §15.2. */
const FINAL_STATUS = /HTTP\/1\.1 [2-5]\d\d /g;
const FINAL_STATUS_LENGTH = 'HTTP/1.1 200 '.length;

/**
 * Sends bytes on a connection of their own and gives all that came back until the other side closed it or was silent: for
 * `quietMs` when as many `answers` have begun as are expected, else for `firstMs`. `half` keeps our side open, as a client
 * does that has more to say.
 */
export async function sendRaw(
  port: number,
  bytes: string | Uint8Array,
  { answers = 1, quietMs = 2000, firstMs = Math.max(10_000, quietMs), half = true } = {},
): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  let heardAt = performance.now();
  let limitMs = firstMs;
  let begun = 0;
  let tail = ''; // a status line may be cut by a chunk
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    heardAt = performance.now();
    const unread = tail + chunk.toString('latin1');
    begun += unread.match(FINAL_STATUS)?.length ?? 0;
    tail = unread.slice(1 - FINAL_STATUS_LENGTH); // shorter than a status line: none is counted twice
    if (begun >= answers) limitMs = quietMs;
    socket.setTimeout(limitMs);
  });
  socket.on('error', () => {}); // a reset ends the answer, too
  socket.setTimeout(limitMs).on('timeout', () => {
    if (msSince(heardAt) < limitMs / 2)
      socket.setTimeout(limitMs); // we were held up, and what came is still unread
    else socket.destroy();
  });
  socket.on('end', () => socket.end());
  if (half) socket.write(bytes);
  else socket.end(bytes);
  await new Promise((resolve) => socket.once('close', resolve)); // once() of node:events would reject on a reset
  return Buffer.concat(chunks).toString('utf8');
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sends the header of a POST of JSON on a connection of its own: the connection, when the gateway has asked for the body. */
export async function sendHead(port: number, path: string, key: string, body: string, more = ''): Promise<Socket> {
  const socket = await openSocket(port);
  socket.write(rawPost(path, key, body, `Expect: 100-continue\r\n${more}`).slice(0, -body.length));
  const [interim] = await once(socket, 'data');
  if (!String(interim).startsWith('HTTP/1.1 100 ')) throw new Error(`not continued: ${interim}`);
  return socket;
}
