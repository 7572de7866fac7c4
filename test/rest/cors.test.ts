import { describe, expect, it, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { OPERATIONS } from '../support/petstore-api.ts';
import { useGateway } from './checked-gateway.ts';

const READABLE = ['deprecation', 'idempotency-replayed', 'link', 'location', 'retry-after', 'sunset', 'x-request-id'];
const ORIGIN = 'https://shop.example';
const names = (list: string | null) =>
  (list ?? '')
    .toLowerCase()
    .split(/\s*,\s*/)
    .filter(Boolean)
    .sort();

describe('CORS', () => {
  describe('by default', () => {
    const gateway = useGateway(SQLITE);

    it.each([
      ['GET', '/v1/pets', true, 200],
      ['GET', '/v1/pets/1', true, 404],
      ['GET', '/v1/pets?limit=0', true, 400],
      ['GET', '/v1/pets', false, 401],
      ['DELETE', '/v1/pets', true, 405],
      ['GET', '/nope', false, 404],
    ])('%s %s (with a key: %s) answers %i, and any page may read it', async (method, path, known, status) => {
      const answer = await gateway.call(method, path, {
        headers: { origin: ORIGIN },
        ...(known ? {} : { key: null }),
      });
      expect(answer.status).toBe(status);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(names(answer.headers.get('access-control-expose-headers'))).toEqual(READABLE);
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
    });

    test('a preflight allows the methods and the headers that were asked for', async () => {
      const asked = 'authorization, content-type, idempotency-key, x-request-id';
      const { status, headers } = await gateway.call('OPTIONS', '/v1/pets', {
        key: null,
        headers: { origin: ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
      });
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      const methods = new Set(['GET', 'HEAD', 'POST', ...OPERATIONS.map(({ method }) => method)]);
      expect(names(headers.get('access-control-allow-methods'))).toEqual(names([...methods].join()));
      expect(names(headers.get('access-control-allow-headers'))).toEqual(names(asked));
      expect(Number(headers.get('access-control-max-age'))).toBeGreaterThan(0);
    });
  });

  describe('CORS_ORIGINS with three origins, one of them of an app', () => {
    const app = 'capacitor://localhost';
    const gateway = useGateway(SQLITE, { CORS_ORIGINS: `${ORIGIN},http://localhost:5173,${app}` });
    const from = (origin: string) => gateway.call('GET', '/v1/pets', { headers: { origin } });

    it.each([ORIGIN, 'http://localhost:5173', app])(
      '%s may read, and caches keep its answers apart',
      async (origin) => {
        const { headers } = await from(origin);
        expect(headers.get('access-control-allow-origin')).toBe(origin);
        expect(names(headers.get('vary'))).toContain('origin');
      },
    );

    it.each([
      'https://evil.example',
      'http://shop.example',
      `${ORIGIN}.evil.example`,
      `${ORIGIN}:444`,
      'capacitor://evil',
      'null',
    ])('%s may not', async (origin) => {
      const { status, headers } = await from(origin);
      expect(status).toBe(200);
      expect(headers.has('access-control-allow-origin')).toBe(false);
      expect(names(headers.get('vary'))).toContain('origin');
    });

    test('an answer without an origin varies by it, too, beside what it varies by itself', async () => {
      expect(names((await gateway.get('/v1/pets')).headers.get('vary'))).toContain('origin');
      expect(names((await gateway.request('/graphql')).headers.get('vary'))).toEqual(['accept', 'origin']);
    });

    test('a preflight from elsewhere allows nothing', async () => {
      const { headers } = await gateway.call('OPTIONS', '/v1/pets', {
        key: null,
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      });
      expect(headers.has('access-control-allow-origin')).toBe(false);
    });
  });
});
