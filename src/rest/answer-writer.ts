import type { Context } from 'koa';
import type { Reply } from '../schema/context.ts';
import { baseUrl } from '../web/base-url.ts';
import { CURSOR, type Operation } from './operation.ts';
import { type RestRequest, refuseNotFound } from './request-reader.ts';

/** How long a text may be that is kept, in characters. */
const KEPT_MAX = 65_536;

/**
 * Gives the body of what the root field of an operation gave, and sets its headers; links begin with `publicUrl`, or with the
 * address that was asked. ApiError `not_found` when the field gave nothing.
 */
export function createAnswerWriter(operation: Operation, basePath: string, publicUrl: string | undefined) {
  const { isPaged, success, answer, hasContent, keyOf } = operation;
  const nextPage = nextPageWriter(operation, basePath);
  const idKey = isPaged ? keyOf('id') : '';
  const location = success.location?.replaceAll(/\{(\w+)\}/g, (_, member) => `{${keyOf(member)}}`);
  const fillLocation = location === undefined ? undefined : pathFiller(basePath + location);
  // Requests that shared one query got the same page, one right after the other: its text, unless long, is written once.
  // A page is frozen. What is not may be an object of a resolver's own, which changes.
  let written: { readonly data: unknown; readonly text: string } = { data: undefined, text: '' };
  return (ctx: Context, data: unknown, request: RestRequest, { unfinished, replayed }: Reply): string => {
    if (data === null) refuseNotFound(operation);
    let { text } = written;
    if (hasContent && written.data !== data) {
      text = answer.write(data);
      if (text.length <= KEPT_MAX && Object.isFrozen(data)) written = { data, text };
    }
    if (isPaged && unfinished.includes(data)) {
      const last = (data as readonly Readonly<Record<string, unknown>>[]).at(-1); // what is listed by pages is ordered by its id
      if (last)
        ctx.res.appendHeader('Link', `<${baseUrl(ctx.req, publicUrl)}${nextPage(request, last[idKey])}>; rel="next"`);
    }
    if (fillLocation) ctx.set('Location', fillLocation(data as Readonly<Record<string, unknown>>)); // an object
    if (replayed) ctx.set('Idempotency-Replayed', 'true');
    return text;
  };
}

/** RFC 8288 §3: writes the page after `lastId` of the same list, as it was asked for. */
function nextPageWriter(
  { path, inPath, inQuery }: Operation,
  basePath: string,
): (request: RestRequest, lastId: unknown) => string {
  const fillPath = pathFiller(basePath + path);
  return (request, lastId) => {
    const places = Object.fromEntries(inPath.map(({ name }, index) => [name, request.inPath[index]]));
    let query = '';
    for (let index = 0; index < inQuery.length; index++) {
      const name = inQuery[index]?.name;
      const text = request.inQuery[index];
      if (name !== CURSOR && text !== undefined) query += `${name}=${encodeURIComponent(text)}&`;
    }
    return `${fillPath(places)}?${query}${CURSOR}=${lastId}`;
  };
}

/** Fills the braces of a path, which is taken apart once. */
function pathFiller(path: string): (values: Readonly<Record<string, unknown>>) => string {
  const [head = '', ...parts] = path.split(/\{(\w+)\}/); // text, name, text, name, text
  return (values) => {
    let filled = head;
    for (let index = 0; index < parts.length; index += 2) {
      filled += encodeURIComponent(String(values[parts[index] as string])) + parts[index + 1]; // a name and its text
    }
    return filled;
  };
}
