import { copyFileSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { send } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';

/** What may happen to the file of a gateway that serves; each gives what brings it back. */
const MOVES: Record<string, (path: string, other: string) => () => void> = {
  'its folder is renamed'(path) {
    const folder = dirname(path);
    renameSync(folder, `${folder}.aside`);
    return () => renameSync(`${folder}.aside`, folder);
  },
  'another store takes its place'(path, other) {
    renameSync(path, `${path}.aside`);
    copyFileSync(other, path);
    return () => renameSync(`${path}.aside`, path);
  },
};

test.each(Object.entries(MOVES))(
  'SQLite, while it is served: %s, and nothing is acknowledged that would be lost',
  async (_what, move) => {
    const gateway = await startGateway(SQLITE);
    const other = await prepareDatabase(SQLITE);
    await other.database.close();
    const path = gateway.database.knex.client.config.connection.files.filename as string;
    const body = { name: 'Rex', categoryId: 1 };
    // One after the other: a key with several requests is refused where the machine holds the event loop up.
    const statuses = async () => {
      const created = await gateway.createPet(body);
      const once = await gateway.createPet(body, { 'Idempotency-Key': crypto.randomUUID() });
      const { json } = await gateway.graphql('mutation { addPet(input: { name: "Rex", categoryId: "1" }) { id } }');
      return [created.status, once.status, json.errors?.[0].extensions.code ?? 'OK'];
    };
    const isReady = async () => (await send(`${gateway.url}/readyz`)).status === 200;
    expect(await statuses()).toEqual([201, 201, 'OK']);

    const moveBack = move(path, other.url.slice('sqlite:'.length));
    expect(await statuses()).toEqual([503, 503, 'SERVICE_UNAVAILABLE']);
    await eventually(async () => !(await isReady()), 5000, 'it is not ready');
    await eventually(async () => (await gateway.request('/v1/pets')).status === 503, 5000, 'lists are refused');
    expect(JSON.stringify(gateway.logs)).toMatch(/was removed or replaced: put it back, or restart the process/);

    moveBack();
    expect(await statuses()).toEqual([201, 201, 'OK']);
    await eventually(isReady, 5000, 'it is ready again');
    expect((await gateway.request('/v1/pets')).json.length).toBeGreaterThanOrEqual(6);
  },
);
