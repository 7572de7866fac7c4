import { expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

const UNKNOWN_PATHS = 100;
/** What GraphQL promises as `extensions.code`; and one limit of many. */
const CODES =
  'GRAPHQL_PARSE_FAILED GRAPHQL_VALIDATION_FAILED BAD_USER_INPUT UNAUTHENTICATED FORBIDDEN IDEMPOTENCY_CONFLICT IDEMPOTENCY_MISMATCH TOO_MANY_REQUESTS SERVICE_UNAVAILABLE INTERNAL_SERVER_ERROR MAX_COST_EXCEEDED'.split(
    ' ',
  );

test('what alerts watch stands at 0 before anything happens', async () => {
  const { metrics } = await startGateway(SQLITE);
  const page = await metrics.registry.metrics();
  const zeros = (name: string) =>
    [...page.matchAll(new RegExp(`^${name}\\{(.*)\\} 0$`, 'gm'))].map(([, labels]) => labels);
  expect(zeros('http_requests_failed_total').sort()).toEqual(
    ['graphql', 'other', 'rest'].flatMap((api) => [`api="${api}",status="500"`, `api="${api}",status="503"`]),
  );
  expect(zeros('deprecated_use_total').sort()).toEqual(['operation="Query.pet"', 'operation="getPet"']);
  const codes = zeros('graphql_errors_total');
  expect(codes).toEqual(expect.arrayContaining(CODES.map((code) => `code="${code}"`)));
  expect(new Set(codes).size).toBe(codes.length);
  expect(page).toMatch(/^http_requests_shed_total 0$/m);
});

test('what comes from outside makes no series: unknown paths, methods and operations share one', async () => {
  const gateway = await startGateway(SQLITE);
  const series = async () => {
    const text = await gateway.metrics.registry.metrics();
    return text.match(/^(?:http_request_duration_seconds_count|graphql_\w+)\{.*\}/gm) ?? [];
  };
  const ask = async (mark: string) => {
    await gateway.request(`/nowhere/${mark}`);
    await gateway.request(`/v1/${mark}`);
    await gateway.request(`/v1/pets/${mark}`);
    await gateway.request(`/docs?${mark}`, { method: mark.toUpperCase() });
    await gateway.graphql(`query ${mark} { pets(limit: 1) { id } }`, {}, { 'x-operation': mark });
    await gateway.graphql(`{ ${mark} }`);
  };
  await ask('first');
  const before = await series();
  for (let path = 0; path < UNKNOWN_PATHS; path++) await ask(`other${path}`);
  expect(await series()).toEqual(before);
  expect(before.length).toBeGreaterThan(4);
  expect(before.join()).not.toContain('first');
  expect(before.join()).toContain('operation="unknown"');
});
