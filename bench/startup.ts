import { join } from 'node:path';
import { gatewayEnvironment, withoutSettings } from './environment.ts';
import { freePort, isRunning, ROOT, runCommand, start, stop, temporaryFolder } from './processes.ts';
import { answersRightly } from './server.ts';

/** ms from `npm start` to the first right answer on the embedded store, one figure for each start. */
export interface StartTimes {
  readonly gateway: readonly number[];
  readonly byHand: readonly number[];
}

const LIMIT_MS = 30_000;
const PETS_COUNT = 20; // a full page

/** Times `npm start` of the gateway and of the hand-written Koa + Knex in turn, both on one SQLite file. */
export async function measureStarts(count: number, note: (line: string) => void): Promise<StartTimes> {
  const url = `sqlite:${join(temporaryFolder(), 'petstore.sqlite')}`;
  runCommand('src/cli/migrate.ts', [], url);
  const key = runCommand('src/cli/keys.ts', ['create', '--name', 'bench'], url);
  runCommand('src/cli/seed.ts', ['--pets', String(PETS_COUNT)], url);
  // The gateway has Node's compile cache by itself.
  const cached = { ...withoutSettings(process.env), NODE_COMPILE_CACHE: temporaryFolder() };
  const timeGateway = () => timeStart(ROOT, gatewayEnvironment({}), url, key);
  const timeByHand = () => timeStart(import.meta.dirname, cached, url, key);
  const gateway: number[] = [];
  const byHand: number[] = [];
  await timeGateway(); // warms the disk's cache, and fills that of Node
  await timeByHand();
  for (let index = 0; index < count; index++) {
    gateway.push(await timeGateway());
    byHand.push(await timeByHand());
  }
  note(`npm start: ${gateway.map(Math.round).join(', ')} ms; by hand: ${byHand.map(Math.round).join(', ')} ms`);
  return { gateway, byHand };
}

async function timeStart(
  folder: string,
  environment: NodeJS.Dict<string>,
  databaseUrl: string,
  key: string,
): Promise<number> {
  const port = await freePort();
  const env = { ...environment, DATABASE_URL: databaseUrl, PORT: String(port) };
  const request = `GET /v1/pets HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const isRight = (_head: string, body: string) => JSON.parse(body).length === PETS_COUNT;
  const probe = { bytes: Buffer.from(request), status: 200, isRight };
  const startedAt = performance.now();
  const child = start(['npm', 'start', '--silent'], { cores: '0,1', cwd: folder, env, stdio: 'ignore' });
  try {
    await answersRightly(port, probe, LIMIT_MS, () => isRunning(child));
    return performance.now() - startedAt;
  } finally {
    await stop(child);
  }
}
