import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Asked } from './asked.ts';

/** An answer as far as two gateways must agree; all text in Latin-1, a character for each byte. */
export interface Answer {
  /** The status line. */
  readonly status: string;
  /** The header's lines in their order. */
  readonly fields: readonly string[];
  readonly body: string;
}

const LIMIT_MS = 8000;

/** `asked` as bytes; `words` are what its `<name>` stand for, and `id` what it is known by where nobody looks at that. */
export function toBytes({ method = 'GET', target, headers, body, raw }: Asked, words: Words, id: string): Buffer {
  const fill = (text: string) => text.replace(/<(\w+)>/g, (whole, name) => words.get(name) ?? whole);
  if (raw !== undefined) return Buffer.from(fill(raw));
  const content = typeof body === 'string' ? Buffer.from(fill(body)) : body;
  const usual = {
    Host: 'pets.example',
    Authorization: 'Bearer <full>',
    ...(id === '' ? {} : { 'X-Request-Id': id }),
    ...(content && headers?.['Transfer-Encoding'] === undefined ? { 'Content-Length': String(content.length) } : {}),
  };
  const fields = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== '');
  const head = [`${method} ${target} HTTP/1.1`, ...fields.map((field) => field.join(': '))].join('\r\n');
  return Buffer.concat([Buffer.from(fill(`${head}\r\n\r\n`)), content ?? Buffer.alloc(0)]);
}

type Words = ReadonlyMap<string, string>;

/** Sends bytes on a connection of their own; gives what comes back, to the end of the answer or, with `toEnd`, of the connection. */
export function send(
  port: number,
  bytes: Buffer,
  { method, toEnd }: { method: string; toEnd: boolean },
): Promise<Buffer> {
  return new Promise((done) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const chunks: Buffer[] = [];
    let missing: number | undefined; // bytes, when the header has told
    const finish = () => {
      socket.destroy();
      done(Buffer.concat(chunks));
    };
    const timer = setTimeout(() => {
      chunks.push(Buffer.from('\r\n\r\n(no end in time)'));
      finish();
    }, LIMIT_MS);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (toEnd) return;
      missing = missing === undefined ? missingOf(Buffer.concat(chunks), method) : missing - chunk.length;
      if (missing !== undefined && (missing <= 0 || chunk.subarray(-5).toString('latin1') === '0\r\n\r\n')) finish();
    });
    socket
      .on('error', finish)
      .on('close', finish)
      .once('close', () => clearTimeout(timer));
    socket.write(bytes);
  });
}

/** How many bytes of an answer are still to come; undefined before its header is there. */
function missingOf(received: Buffer, method: string): number | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = received.toString('latin1', 0, end);
  if (method === 'HEAD' || /^HTTP\/1.1 (?:204|304)/.test(head)) return 0;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  if (length !== undefined) return Number(length) - (received.length - end - 4);
  return /\r\ntransfer-encoding: chunked/i.test(head) ? Number.POSITIVE_INFINITY : 0;
}

/** What was received, without what differs between two gateways, or two calls of one. */
export function normalise(received: Buffer, { target }: Asked, words: Words): Answer {
  const end = received.indexOf('\r\n\r\n');
  const head = (end < 0 ? received : received.subarray(0, end)).toString('latin1');
  const coding = /\r\ncontent-encoding: (br|gzip)/i.exec(head)?.[1];
  const content = end < 0 ? Buffer.alloc(0) : received.subarray(end + 4);
  const decoded = content.length === 0 ? content : decode(content, coding);
  // The compressed length of a page differs with the hashes in it.
  const isLengthFree = coding !== undefined || target.startsWith('/metrics');
  const text = decoded.toString('latin1');
  const [status = '', ...fields] = withoutChance(head, words)
    .replace(/^(content-length): .*$/gim, (line, name) => (isLengthFree ? `${name}: *` : line))
    .split('\r\n');
  const body = target.startsWith('/metrics') ? withoutMeasures(text) : withoutChance(text, words);
  return { status, fields, body };
}

function decode(content: Buffer, coding: string | undefined): Buffer {
  if (coding === 'br') return brotliDecompressSync(content);
  return coding === 'gzip' ? gunzipSync(content) : content;
}

/** Several answers on one connection have their headers anywhere in a text. */
function withoutChance(text: string, words: Words): string {
  const hasKey = text.includes('petstore_');
  const keys = hasKey ? [...words].filter(([, word]) => word.startsWith('petstore_')) : [];
  const retried = /^ratelimit:/im.test(text) ? text.replace(/^(retry-after): .*$/gim, '$1: *') : text;
  return keys
    .reduce((result, [name, key]) => result.replaceAll(key, `<${name}>`), retried)
    .replace(/^(date): .*$/gim, '$1: *')
    .replace(/^(x-request-id): [\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/gim, '$1: *')
    .replace(/^(etag: W\/)"[\w-]{22}"/gim, '$1"*"')
    .replace(/^(ratelimit: .*;t=)\d+/gim, '$1*')
    .replace(/\bassets\/[\da-f]{12}\//g, 'assets/*/');
}

/** The meters with what they counted of requests; of the rest only what they are. */
function withoutMeasures(text: string): string {
  const lines = text.split('\n').filter((line) => !/^(?:nodejs|process)_/.test(line));
  const isCount = (line: string) =>
    /^(?:#|http_request_duration_seconds_count|graphql_|deprecated_|http_requests_shed)/.test(line);
  return lines.map((line) => (isCount(line) ? line : line.replace(/ \S+$/, ' *'))).join('\n');
}

/** A line of the log, without what differs between two runs; the cause of a fault is its message. */
export function withoutMoments(line: string): string {
  if (!line.startsWith('{')) return line;
  const { time, pid, hostname, ms, requestId, err, ...rest } = JSON.parse(line);
  return JSON.stringify({ ...rest, requestId: requestId && typeof requestId, err: err?.message });
}
