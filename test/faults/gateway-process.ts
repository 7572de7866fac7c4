import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readConfig } from '../../src/gateway/config.ts';
import { connectDatabase } from '../../src/gateway/database/connect.ts';
import { createKeyStore } from '../../src/gateway/keys/key-store.ts';
import { endWithUs } from '../support/end-with-us.ts';
import { freePort } from '../support/ports.ts';
import type { StoredPet } from './ledger.ts';
import type { LoadTarget } from './mixed-load.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
const START_MS = 60_000;

/** A gateway as its operators run it: a process of its own, which can be killed and started again. */
export interface GatewayProcess extends LoadTarget {
  readonly pid: number;
  kill(): Promise<void>;
  /** Starts it again on the same port; resolves when it is ready. */
  restart(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts a gateway on an empty database, with a key. Nothing here needs vitest: the fault table is a plain script. */
export async function startGatewayProcess(databaseUrl: string, poolMax = 10): Promise<GatewayProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env.PATH ?? '',
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_MAX: String(poolMax),
    LOG_LEVEL: 'silent',
  };
  let child: ChildProcess;
  const start = async () => {
    child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('exit', endWithUs({ pid: child.pid }));
    await ready(url, child);
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  await start();
  return {
    url,
    key: await createKey(databaseUrl),
    stored: () => storedPets(databaseUrl),
    get pid() {
      return child.pid ?? 0;
    },
    kill,
    restart: start,
    remove: kill,
  };
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + START_MS; ; await delay(20)) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`);
    if (Date.now() > deadline) throw new Error('the gateway did not become ready');
  }
}

async function createKey(databaseUrl: string): Promise<string> {
  const database = await connectDatabase(readConfig({ DATABASE_URL: databaseUrl }));
  const { key } = await createKeyStore(database).create({ name: 'fault run', expiresAt: null });
  await database.close();
  return key;
}

/** All animals, as whoever opens this database sees them. */
export async function storedPets(databaseUrl: string): Promise<StoredPet[]> {
  const database = await connectDatabase(readConfig({ DATABASE_URL: databaseUrl }));
  try {
    return await database.knex('pets').select('id', 'name').orderBy('id');
  } finally {
    await database.close();
  }
}
