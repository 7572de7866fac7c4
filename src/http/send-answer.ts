import type Koa from 'koa';
import type { Context } from 'koa';

/**
 * Makes `koa` send its answers plainly: each is a text, bytes or nothing. Koa itself would also wait for the end of every
 * answer, to hear of a connection that breaks, which `watchSockets` does for all of a server.
 */
export function sendPlainly(koa: Koa): void {
  const handleRequest = (ctx: Context, serve: (ctx: Context) => Promise<void>): Promise<void> => {
    ctx.res.statusCode = 404; // as Koa has it, until somebody says another
    return serve(ctx)
      .then(() => send(ctx))
      .catch((error) => ctx.onerror(error));
  };
  Object.assign(koa, { handleRequest }); // `koa.callback()` calls it for each request; Koa's types do not name it
}

function send({ res, body, method, writable }: Context): void {
  const hasContent = typeof body === 'string' || Buffer.isBuffer(body);
  if (!hasContent || method === 'HEAD' || !writable) return void res.end();
  res.writeHead(res.statusCode); // before `end`, which would count the bytes that Content-Length says
  res.end(body);
}
