import { expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

test("GraphiQL's bundle is read again after it could not be read", async () => {
  const { url } = await startGateway(SQLITE);
  const page = await (await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } })).text();
  const [, script = ''] = page.match(/"graphiql\.js":"([^"]+)"/) ?? [];
  const node = process.execPath;
  process.execPath = '/is/not/there';
  const failed = await fetch(new URL(script, `${url}/`)).finally(() => {
    process.execPath = node;
  });
  expect(failed.status).toBe(500);
  const answer = await fetch(new URL(script, `${url}/`));
  expect(answer.status).toBe(200);
  expect((await answer.text()).length).toBeGreaterThan(100_000);
});
