import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';
import { parseJson } from '../int64.ts';

/**
 * Reads the bytes of a JSON body without parsing them. ApiError `unsupported_media_type` unless it is `application/json`,
 * `payload_too_large` beyond `limitBytes`, `bad_request` when the connection ends before the body.
 */
export async function readJsonBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  requireJson(request);
  return readBytes(request, limitBytes);
}

function requireJson({ headers }: IncomingMessage): void {
  // All parameters are ignored: JSON is always UTF-8, and `charset` has no meaning, RFC 8259 §11.
  if (!/^\s*application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    throw new ApiError('unsupported_media_type', 'The Content-Type must be application/json.');
  }
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (coding !== 'identity') {
    // RFC 9110 §15.5.16: 415 is also the status for content codings.
    throw new ApiError('unsupported_media_type', 'The body must be sent without a Content-Encoding.');
  }
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Reads a body into one buffer. A list of the received chunks could take 200 times the memory of the body, if each had one
 * byte. The rest of a refused body is discarded, because the connection's next request comes after it.
 */
function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const most = Math.min(limitBytes, Number(request.headers['content-length'] ?? limitBytes));
  let bytes: Buffer = NO_BYTES;
  let length = 0;
  let isWhole = false;
  const take = (chunk: Buffer) => {
    const needed = length + chunk.length;
    if (needed > limitBytes) return refuse();
    if (length === 0) {
      bytes = chunk; // most bodies are one chunk: no copy
    } else {
      if (needed > bytes.length) bytes = copyInto(Math.min(most, Math.max(needed, 2 * bytes.length)), bytes, length);
      chunk.copy(bytes, length);
    }
    length = needed;
  };
  const refuse = () => {
    discardBody(request.off('data', take));
    reject(new ApiError('payload_too_large', `The body must not be larger than ${limitBytes} bytes.`));
  };
  const giveUp = (cause?: unknown) => {
    if (!isWhole) reject(new ApiError('bad_request', 'The body could not be read to its end.', { cause }));
  };
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) refuse();
  else if (!request.readable) giveUp();
  else request.on('data', take);
  request.on('end', () => {
    isWhole = true; // `close` follows every `end`: an Error made in vain costs as much as the rest of the reading
    resolve(bytes.subarray(0, length));
  });
  request.on('error', giveUp).on('close', giveUp);
  return promise;
}

/** Discards the rest of a body as it arrives. Node would otherwise buffer its chunks until the answer ends. */
export function discardBody(request: IncomingMessage): void {
  request.on('data', ignore); // faster than `resume()` without a listener
}

function ignore(): void {}

function copyInto(size: number, bytes: Buffer, length: number): Buffer {
  const larger = Buffer.allocUnsafe(size);
  bytes.copy(larger, 0, 0, length);
  return larger;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a JSON body without rounding integers (see `parseJson`). ApiError `bad_request` when it is not JSON in UTF-8. */
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

/** V8's message about invalid JSON, without the part of the text that it quotes: the text may contain an API key. */
function withoutQuote({ message }: SyntaxError): string {
  const reason = message.replace(/(?: in JSON)? at position \d+|, (?:\.\.\.)?".* is not valid JSON$/s, '');
  return reason.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd');
}

/** Whether a JSON value is an object: neither an array nor null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
