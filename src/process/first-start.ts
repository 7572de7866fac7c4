import { styleText } from 'node:util';
import type { Config } from '../config.ts';
import { migrationStatus } from '../database/migrations.ts';
import type { Gateway } from '../gateway.ts';
import { NEWCOMERS_PETS, samplePet } from '../pets/sample-pets.ts';

/** What `npm start -- --help` prints. */
export const START_HELP = `Serves the REST API at /v1 and the GraphQL API at /graphql until Ctrl+C.

  npm start

Settings come from the environment or from a .env file in the working folder;
README.md lists them. Some of them:

  PORT=5000 npm start              another port (0: a free one)
  DATABASE_URL=mysql://… npm start
  WORKERS=auto npm start           one process for each core

npm run doctor shows what is set. Exit codes: 0 stopped, 1 the start failed,
2 a wrong setting or word.`;

/**
 * Greets whoever starts for the first time. A newcomer, who has set no DATABASE_URL, gets sample animals and a
 * key, shown this once; on a database of one's own, only the command that makes a key is named. A later start prints the
 * addresses, where there is a terminal.
 */
export async function welcome(gateway: Gateway, config: Config, listeningOn: string): Promise<void> {
  const url = reachable(listeningOn);
  const news = await findNews(gateway, config, url);
  if (news) return print(news);
  if (process.stdout.isTTY) print(addresses(url));
}

async function findNews({ database, keys, pets }: Gateway, config: Config, url: string): Promise<string[] | undefined> {
  // Who migrates by hand may have no tables yet.
  if (!config.migrateOnStart && (await migrationStatus(database)).pending.length > 0) {
    return [...addresses(url), '', 'Migrations are pending: npm run migrate'];
  }
  if ((await keys.count()) > 0) return undefined;
  // Nobody else can make a key for a database in memory.
  if (!config.embedded && !config.inMemory) {
    return [...addresses(url), '', 'No API key exists yet. Make one:', '', '  npm run keys -- create --name NAME'];
  }
  if (config.sampleData && (await pets.isEmpty())) {
    await pets.addPets(Array.from({ length: NEWCOMERS_PETS }, (_, index) => samplePet(index)));
  }
  const { key } = await keys.create({ name: 'first key', expiresAt: null });
  return greeting(url, key);
}

/** The address for a program on this machine: one that listens everywhere is reached at the loopback address. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

function addresses(url: string): string[] {
  return [
    row('Overview', `${url}/`),
    row('REST', `${url}/v1/pets`),
    row('Reference', `${url}/docs`),
    row('GraphQL', `${url}/graphql`),
  ];
}

function greeting(url: string, key: string): string[] {
  const bearer = `-H 'Authorization: Bearer ${key}'`;
  const query = '{"query":"{ pets(status: AVAILABLE, limit: 3) { id name categoryId status } }"}';
  return [
    styleText('bold', 'Welcome to the Petstore Gateway.'),
    '',
    ...addresses(url),
    '',
    row('Your API key', styleText('green', key)),
    row('', 'Shown this once; only its hash is stored. Another one:'),
    row('', 'npm run keys -- create --name NAME'),
    '',
    'Try REST:',
    '',
    `  curl ${bearer} '${url}/v1/pets?status=available&limit=3'`,
    '',
    'Try GraphQL:',
    '',
    `  curl ${bearer} -H 'Content-Type: application/json' -d '${query}' ${url}/graphql`,
    '',
    'Explore in the browser, with the key in place:',
    '',
    `  ${styleText('cyan', `${url}/graphql#key=${key}`)}`,
  ];
}

function row(label: string, value: string): string {
  return `  ${label.padEnd(14)}${value}`;
}

function print(lines: readonly string[]): void {
  // styleText asks the stream by itself whether it shows colours.
  console.log(['', ...lines, ''].join('\n'));
}
