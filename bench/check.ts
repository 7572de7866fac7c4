import { isDeepStrictEqual } from 'node:util';
import type { Dialect } from './dialects.ts';
import { expectedAnswer, PETS_COUNT, type Question } from './pets.ts';

/** A request as it goes over the wire, and how its answer is judged. */
export interface WireRequest {
  readonly bytes: Buffer;
  readonly status: number;
  /** Whether an answer of the right status says what it must; looked at for a sample only. */
  isRight(head: string, body: string): boolean;
}

/** `question` in the words of `dialect`, made once so that sending costs the generator next to nothing. */
export function toWireRequest(question: Question, dialect: Dialect, key: string): WireRequest {
  const { line, body } = dialect.request(question);
  const json = body === undefined ? '' : JSON.stringify(body);
  const type =
    body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n`;
  const fixed = `Host: 127.0.0.1\r\nAccept: application/json\r\nAuthorization: Bearer ${key}\r\n`;
  return {
    bytes: Buffer.from(`${line} HTTP/1.1\r\n${fixed}${type}\r\n${json}`),
    status: dialect.status(question),
    isRight: (head, text) => isRightAnswer(question, dialect, head, text),
  };
}

function isRightAnswer(question: Question, dialect: Dialect, head: string, text: string): boolean {
  try {
    const sent = dialect.read(JSON.parse(text, integersAsText), question);
    const { pets, hasMore } = expectedAnswer(question);
    if (dialect.linksNextPage && hasMore !== head.includes(`after=${pets.at(-1)?.id}>; rel="next"`)) return false;
    if (question.kind !== 'create') return isDeepStrictEqual(sent, pets);
    return Number(sent[0]?.id) > PETS_COUNT && isDeepStrictEqual([{ ...sent[0], id: '' }], pets);
  } catch {
    return false; // no JSON, or of a form that `read` cannot walk through
  }
}

function integersAsText(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? context?.source : value;
}
