import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';
import { parseJson } from '../int64.ts';

/**
 * The bytes of a JSON body, not looked into. ApiError `unsupported_media_type` unless it is `application/json`,
 * `payload_too_large` beyond `limitBytes`, `bad_request` when it cannot be read to its end.
 */
export async function readJsonBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  requireJson(request);
  return readBytes(request, limitBytes);
}

function requireJson({ headers }: IncomingMessage): void {
  // Any parameters are allowed: JSON is UTF-8 whatever a charset parameter says, RFC 8259 §11.
  if (!/^\s*application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    throw new ApiError('unsupported_media_type', 'The Content-Type must be application/json.');
  }
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (coding !== 'identity') {
    // RFC 9110 §15.5.16 has this status for codings too.
    throw new ApiError('unsupported_media_type', 'The body must be sent without a Content-Encoding.');
  }
}

const NO_BYTES = Buffer.alloc(0);

/**
 * In one buffer, whatever pieces it comes in: kept as they come, pieces of a byte each would take 200 times its size. What a
 * body that is refused still has to come is let go, or the connection's next request waits behind it.
 */
function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const most = Math.min(limitBytes, Number(request.headers['content-length'] ?? limitBytes));
  let bytes: Buffer = NO_BYTES;
  let length = 0;
  let isWhole = false;
  const take = (piece: Buffer) => {
    const needed = length + piece.length;
    if (needed > limitBytes) return refuse();
    if (length === 0) {
      bytes = piece; // most bodies come in one
    } else {
      if (needed > bytes.length) bytes = copyInto(Math.min(most, Math.max(needed, 2 * bytes.length)), bytes, length);
      piece.copy(bytes, length);
    }
    length = needed;
  };
  const refuse = () => {
    letBodyGo(request.off('data', take));
    reject(new ApiError('payload_too_large', `The body must not be larger than ${limitBytes} bytes.`));
  };
  const giveUp = (cause?: unknown) => {
    if (!isWhole) reject(new ApiError('bad_request', 'The body could not be read to its end.', { cause }));
  };
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) refuse();
  else if (!request.readable) giveUp();
  else request.on('data', take);
  request.on('end', () => {
    isWhole = true; // every request is closed after that: an error each time would cost as much as the rest
    resolve(bytes.subarray(0, length));
  });
  request.on('error', giveUp).on('close', giveUp);
  return promise;
}

/** Lets the rest of a body go as it comes. If it waited for the end of the answer, its pieces would take many times its size. */
export function letBodyGo(request: IncomingMessage): void {
  request.on('data', ignore); // in flow without a listener, each piece takes twice the time
}

function ignore(): void {}

function copyInto(size: number, bytes: Buffer, length: number): Buffer {
  const larger = Buffer.allocUnsafe(size);
  bytes.copy(larger, 0, 0, length);
  return larger;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The value of a JSON body, integers exact (see `parseJson`). ApiError `bad_request` when it is not JSON in UTF-8. */
export function parseJsonBytes(bytes: Buffer): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new ApiError('bad_request', 'The body is not valid UTF-8.');
  }
  try {
    return parseJson(text);
  } catch (error) {
    if (text.trim() === '') throw new ApiError('bad_request', 'The body is empty.');
    if (!(error instanceof SyntaxError)) throw new ApiError('bad_request', 'The body is nested too deeply.');
    throw new ApiError('bad_request', `The body is not valid JSON: ${withoutQuote(error)}.`);
  }
}

/** What V8 says of a text that is no JSON, without the piece of the text that it may quote: a key may stand there. */
function withoutQuote({ message }: SyntaxError): string {
  const said = message.replace(/(?: in JSON)? at position \d+|, (?:\.\.\.)?".* is not valid JSON$/s, '');
  return said.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd');
}

/** Whether a JSON value is an object, and no array or null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
