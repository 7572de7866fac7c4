import type { Context } from 'koa';
import type { Reply } from '../schema/context.ts';
import { baseUrl } from '../web/base-url.ts';
import { CURSOR, type Operation } from './operation.ts';
import { BASE_PATH } from './operations.ts';
import { type RestRequest, refuseNotFound } from './request-reader.ts';

/** Gives the body of what a root field gave, and sets its headers. ApiError `not_found` when the field gave nothing. */
export type AnswerWriter = (ctx: Context, data: unknown, request: RestRequest, reply: Reply) => string;

/** The writer of an operation; its links begin with `publicUrl`, or with the address that was asked. */
export function createAnswerWriter(operation: Operation, publicUrl: string | undefined): AnswerWriter {
  const { isPaged, success, answer } = operation;
  const location = success.location && `${BASE_PATH}${success.location}`;
  // Requests that shared one query got the same object, one right after the other: its text is written once.
  let written: { readonly data: unknown; readonly text: string } = { data: undefined, text: '' };
  return (ctx, data, request, { hasMore, replayed }) => {
    if (data === null) refuseNotFound(operation);
    if (written.data !== data) written = { data, text: answer.write(data) };
    if (isPaged && hasMore) {
      const last = (data as readonly { id: unknown }[]).at(-1); // what is listed by pages is ordered by its id
      if (last)
        ctx.append('Link', `<${baseUrl(ctx.req, publicUrl)}${nextPage(operation, request, last.id)}>; rel="next"`);
    }
    if (location) ctx.set('Location', fillPath(location, data as Readonly<Record<string, unknown>>)); // an object
    if (replayed) ctx.set('Idempotency-Replayed', 'true');
    return written.text;
  };
}

/** RFC 8288 §3: the page after `lastId` of the same list, as it was asked for. */
function nextPage({ path, inPath, inQuery }: Operation, request: RestRequest, lastId: unknown): string {
  const places = Object.fromEntries(inPath.map(({ name }, index) => [name, request.inPath[index]]));
  let query = '';
  for (const [index, { name }] of inQuery.entries()) {
    const text = request.inQuery[index];
    if (name !== CURSOR && text !== undefined) query += `${name}=${encodeURIComponent(text)}&`;
  }
  return `${BASE_PATH}${fillPath(path, places)}?${query}${CURSOR}=${lastId}`;
}

function fillPath(path: string, values: Readonly<Record<string, unknown>>): string {
  return path.replace(/\{(\w+)\}/g, (_braces, name: string) => encodeURIComponent(String(values[name])));
}
