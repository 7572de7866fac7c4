import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { ApiError } from '../errors.ts';
import { parseJson } from '../int64.ts';
import { findJsonFault } from './json-fault.ts';

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

async function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  try {
    return await getRawBody(request, { limit: limitBytes, length: request.headers['content-length'] ?? null });
  } catch (error) {
    const type: unknown = error instanceof Error && 'type' in error ? error.type : undefined;
    if (type === 'entity.too.large') {
      request.resume(); // raw-body stops reading: the rest must go, or the connection's next request waits behind it
      throw new ApiError('payload_too_large', `The body must not be larger than ${limitBytes} bytes.`);
    }
    throw new ApiError('bad_request', 'The body could not be read to its end.', { cause: error });
  }
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
  } catch {
    if (text.trim() === '') throw new ApiError('bad_request', 'The body is empty.');
    const fault = findJsonFault(text);
    if (fault === undefined) throw new ApiError('bad_request', 'The body is nested too deeply.'); // RangeError
    const { line, column } = fault;
    throw new ApiError('bad_request', `The body is not valid JSON (line ${line}, column ${column}).`);
  }
}

/** Whether a JSON value is an object, and no array or null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
