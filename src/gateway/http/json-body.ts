import type { IncomingMessage } from 'node:http';
import { boundOfValues, parseJson } from '../../lib/exact-json/exact-json.ts';
import { ApiError } from '../errors.ts';

/**
 * Reads the bytes of a JSON body without parsing them. ApiError `unsupported_media_type` unless it is `application/json`,
 * `payload_too_large` beyond `limitBytes`, `bad_request` when the connection ends before the body. `askForBody` is called when the
 * header gives no reason to refuse.
 */
export async function readJsonBytes(
  request: IncomingMessage,
  limitBytes: number,
  askForBody = () => {},
): Promise<Buffer> {
  const { headers } = request;
  // All parameters are ignored: JSON is always UTF-8, and `charset` has no meaning, RFC 8259 §11. A comma is between two types.
  if (!/^\s*application\/json\s*(?:;(?:[^,"]|"(?:[^"\\]|\\.)*")*)?$/i.test(headers['content-type'] ?? '')) {
    const told = { Accept: 'application/json' }; // RFC 9110 §15.5.16
    throw new ApiError('unsupported_media_type', 'The Content-Type must be application/json.', { headers: told });
  }
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (coding !== 'identity') {
    const told = { 'Accept-Encoding': 'identity' }; // RFC 9110 §12.5.3, §15.5.16
    throw new ApiError('unsupported_media_type', 'The body must be sent without a Content-Encoding.', {
      headers: told,
    });
  }
  return readBytes(request, limitBytes, askForBody);
}

/**
 * Reads a body into one buffer of the announced size, which the key's share counts already. A list of the received chunks could
 * take 200 times the memory of the body, if each had one byte. The rest of a refused body is discarded, because the connection's
 * next request comes after it.
 */
function readBytes(request: IncomingMessage, limitBytes: number, askForBody: () => void): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const announced = Number(request.headers['content-length'] ?? limitBytes);
  let bytes: Buffer = Buffer.alloc(0);
  let length = 0;
  const take = (chunk: Buffer) => {
    if (length + chunk.length > limitBytes) return refuse();
    if (length === 0) {
      bytes = chunk; // most bodies are one chunk: no copy
    } else {
      if (bytes.length < announced) {
        const whole = Buffer.allocUnsafe(announced);
        bytes.copy(whole);
        bytes = whole;
      }
      chunk.copy(bytes, length);
    }
    length += chunk.length;
  };
  // The request lives longer than the share of the body: a listener of it that stays would keep the bytes.
  const letGo = () => request.off('data', take).off('close', giveUp).off('end', end).off('error', giveUp);
  const refuse = () => {
    discardBody(letGo());
    reject(new ApiError('payload_too_large', `The body must not be larger than ${limitBytes} bytes.`));
  };
  const giveUp = (cause?: unknown) =>
    reject(new ApiError('bad_request', 'The body could not be read to its end.', { cause }));
  const end = () => {
    letGo(); // an Error made in vain by `close` costs as much as the rest of the reading
    resolve(bytes.subarray(0, length));
  };
  request.on('error', giveUp).on('close', giveUp).on('end', end);
  if (announced > limitBytes) refuse();
  else if (!request.readable) giveUp();
  else {
    askForBody();
    request.on('data', take);
  }
  return promise;
}

/** Discards the rest of a body as it arrives. Node would otherwise buffer its chunks until the answer ends. */
export function discardBody(request: IncomingMessage): void {
  request.on('data', () => {}); // faster than `resume()` without a listener
}

/**
 * How many JSON values a body may have: as many as fit into 65,536 characters, the default BODY_LIMIT. A value takes far more memory and
 * time than its characters, those of a long string do not.
 */
const VALUES_MAX = 32_768;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON body without rounding integers (see `parseJson`). ApiError `bad_request` when it is not JSON in UTF-8,
 * `payload_too_large` beyond VALUES_MAX.
 */
export function parseJsonBytes(bytes: Buffer): unknown {
  let text = '';
  try {
    text = utf8.decode(bytes);
    if (text.length > 2 * VALUES_MAX && boundOfValues(text) > VALUES_MAX)
      throw new ApiError('payload_too_large', `The body must not have more than ${VALUES_MAX} JSON values.`);
    return parseJson(text);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (error instanceof TypeError) throw new ApiError('bad_request', 'The body is not valid UTF-8.');
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

/** Whether a JSON value (see `parseJson`) is an object: neither an array nor null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Number);
}
