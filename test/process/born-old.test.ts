import { expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { connectClient, isShed } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';

const CLIENTS = 32;
/** V8 prints what it counts and decides at each collection of the young: a few MB of garbage are enough for some. */
const TRACE = "import('node:v8').then((v8) => v8.setFlagsFromString('--trace-pretenuring-statistics'))";

test('V8 never decides that what a line of code makes is born old', async () => {
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURI(TRACE)}` };
  const { gateway, key } = await startPrepared(SQLITE, env);
  const clients = Array.from({ length: CLIENTS }, () => connectClient(gateway.url, key));
  await Promise.all(
    clients.map(async ({ ask }) => {
      for (let served = 0; served < 50; ) {
        const answer = await ask('GET', '/v1/pets');
        if (isShed(answer.text)) continue;
        expect(answer.status).toBe(200);
        served++;
      }
    }),
  );
  const [, whileServing] = gateway.stdout().split('listening on');
  expect(whileServing).not.toContain('pretenuring:');
});
