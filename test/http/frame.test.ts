import Koa from 'koa';
import { describe, expect, test } from 'vitest';
import type { Admission } from '../../src/gateway/http/admission.ts';
import { createFrame } from '../../src/gateway/http/frame.ts';
import { createNotFound } from '../../src/gateway/http/path-finder.ts';
import { errorBody } from '../../src/gateway/http/refusal.ts';
import { createLog } from '../../src/gateway/log.ts';
import type { Route } from '../../src/gateway/web/route.ts';
import { send } from '../support/client.ts';
import { serveApp } from '../support/served-app.ts';

const log = createLog('silent', { write() {} });

/** Lets everybody in, as one who may write unless the header X-Rights says `read`. */
const admission: Admission = {
  async admit(ctx, next) {
    ctx.state.keyId = 'somebody';
    ctx.state.mayWrite = ctx.get('X-Rights') !== 'read';
    await next();
  },
  holdBody: (_ctx, next) => next(),
  run: (_ctx, work) => work({ deadline: Number.POSITIVE_INFINITY, reserve: () => undefined }),
};

const tellState: Route['handle'] = async (ctx) => {
  ctx.body = JSON.stringify({ changes: ctx.state.changes ?? false });
};
const common = { path: '/books', takesBody: false, isDeprecated: false, handle: tellState };

const app = new Koa();
app.use(errorBody(log));
app.use(
  createFrame({
    routes: [
      { ...common, methods: ['GET', 'HEAD'], changes: false },
      { ...common, methods: ['PUT'], changes: true },
      { ...common, methods: ['POST'], changes: true, takesBody: true },
    ],
    open: [
      {
        path: '/books',
        operation: 'page',
        sharesPath: true,
        handle: (ctx) => {
          ctx.body = '<!doctype html>';
        },
      },
    ],
    basePath: '/v1',
    admission,
    bodyLimitBytes: 1024,
    noteDeprecatedUse() {},
    refuseNotFound: createNotFound([], '/docs'),
  }),
);
const url = await serveApp(app);

describe('the frame', () => {
  test.each([
    ['GET', false],
    ['PUT', true],
  ])(
    '%s: whether the answer tells of a change is known, so that it is not thrown away: %s',
    async (method, changes) => {
      expect((await send(`${url}/books`, { method })).json).toEqual({ changes });
    },
  );

  test.each([
    ['a change without a body', 'PUT', 'read', undefined, 403],
    ['a body that is no JSON, unread', 'POST', 'read', 'no JSON', 403],
    ['a body that is no JSON, of one who may write', 'POST', 'write', 'no JSON', 415],
    ['nothing of a read', 'GET', 'read', undefined, 200],
  ])('a key that may only read is refused %s', async (_what, method, rights, body, status) => {
    const headers = { accept: 'application/json', 'x-rights': rights };
    expect((await send(`${url}/books`, { method, headers, ...(body && { body }) })).status).toBe(status);
  });

  test.each([
    ['GET', 'text/html', 200, 'text/html'],
    ['HEAD', 'text/html', 200, 'text/html'],
    ['GET', 'application/json', 200, 'text/plain'],
    ['GET', 'application/graphql-response+json, text/html;q=0.9', 200, 'text/plain'],
    ['PUT', 'text/html', 200, 'text/plain'],
    ['DELETE', 'text/html', 405, 'application/json'],
  ])(
    'a path of a page and of an API, %s for %s: %i, %s, and caches know by what',
    async (method, accept, status, type) => {
      const answer = await send(`${url}/books`, { method, headers: { accept } });
      expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([status, type]);
      expect(answer.headers.get('vary')).toBe('Accept');
    },
  );
});
