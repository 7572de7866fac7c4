import type Koa from 'koa';
import type { Context } from 'koa';

/**
 * Replaces how `koa` sends answers: each body is a text, a Buffer or absent. Koa itself would also observe the end of every
 * answer, to report broken connections; `process/server` does that for all connections of a server.
 */
export function sendPlainly(koa: Koa): void {
  const handleRequest = (ctx: Context, serve: (ctx: Context) => Promise<void>): Promise<void> => {
    ctx.res.statusCode = 404; // Koa's initial status
    return serve(ctx)
      .then(() => send(ctx))
      .catch((error) => ctx.onerror(error));
  };
  Object.assign(koa, { handleRequest }); // `koa.callback()` calls it for each request; Koa's types lack it
}

function send({ res, body, method, writable }: Context): void {
  const hasContent = typeof body === 'string' || Buffer.isBuffer(body);
  if (!hasContent || method === 'HEAD' || !writable) return void res.end();
  res.writeHead(res.statusCode); // before `end`, which would otherwise compute a Content-Length
  res.end(body);
}
