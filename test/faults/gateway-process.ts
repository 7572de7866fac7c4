import { tmpdir } from 'node:os';
import { readConfig } from '../../src/gateway/config.ts';
import { connectDatabase, type Database } from '../../src/gateway/database/connect.ts';
import { createKeyStore } from '../../src/gateway/keys/key-store.ts';
import { eventually } from '../support/load.ts';
import { freePort } from '../support/ports.ts';
import { run, type TestProcess } from '../support/process.ts';
import type { StoredPet } from './ledger.ts';
import type { LoadTarget } from './mixed-load.ts';

/** A gateway as its operators run it: a process of its own, which can be killed and started again. */
export interface GatewayProcess extends LoadTarget {
  readonly pid: number;
  kill(): Promise<void>;
  /** Starts it again on the same port; resolves when it is ready. */
  restart(): Promise<void>;
}

/** Starts a gateway on an empty database, with a key; it ends after the test file. */
export async function startGatewayProcess(databaseUrl: string, poolMax = 10): Promise<GatewayProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_MAX: String(poolMax),
    LOG_LEVEL: 'silent',
  };
  let gateway: TestProcess;
  const isReady = async () => {
    if (gateway.child.exitCode !== null) throw new Error(`the gateway ended: ${gateway.stderr()}`);
    return (await fetch(`${url}/readyz`).catch(() => undefined))?.ok;
  };
  const start = async () => {
    gateway = run('main.ts', [], env, tmpdir());
    await eventually(isReady, 60_000, 'the gateway is ready');
  };
  await start();
  return {
    url,
    key: await withDatabase(databaseUrl, async (database) => {
      const { key } = await createKeyStore(database).create({ name: 'fault run', expiresAt: null });
      return key;
    }),
    /** All animals, as whoever opens this database sees them. */
    stored: () =>
      withDatabase(databaseUrl, ({ knex }): Promise<StoredPet[]> => knex('pets').select('id', 'name').orderBy('id')),
    get pid() {
      return gateway.child.pid ?? 0;
    },
    async kill() {
      gateway.child.kill('SIGKILL');
      await gateway.exited;
    },
    restart: start,
  };
}

async function withDatabase<Result>(url: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = await connectDatabase(readConfig({ DATABASE_URL: url }));
  return work(database).finally(() => database.close());
}
