import { styleText } from 'node:util';
import { CREATE_KEY } from '../command-line.ts';
import type { Config } from '../config.ts';
import { type Database, inTransaction } from '../database/connect.ts';
import { migrationStatus } from '../database/migrations.ts';
import type { Gateway } from '../gateway.ts';
import { GRAPHQL_PATH } from '../graphql/endpoint.ts';
import { createKeyStore } from '../keys/key-store.ts';
import type { Logger } from '../log.ts';
import { REFERENCE_PATH } from '../pages/site.ts';
import type { Service } from '../service.ts';
import { addSamples } from '../store/store.ts';

const ANOTHER_KEY = `${CREATE_KEY} makes another`;

/** What `npm start -- --help` prints. */
export const startHelp = ({ basePath }: Service) =>
  `Serves the REST API at ${basePath} and the GraphQL API at ${GRAPHQL_PATH} until Ctrl+C.

  npm start

Settings come from the environment or from a .env file in the working folder;
README.md lists them. Some of them:

  PORT=5000 npm start              another port (0: a free one)
  DATABASE_URL=mysql://… npm start
  WORKERS=auto npm start           one process for each core

npm run doctor shows what is set. Exit codes: 0 stopped, 1 the start failed,
2 a wrong setting or word.`;

/**
 * Prints the greeting of a start. The first start without DATABASE_URL adds samples and a key, and prints the key. The
 * first start with DATABASE_URL prints the command that makes a key. A later start prints the addresses, on a terminal
 * only, and how to get another key.
 */
export async function welcome(gateway: Gateway, config: Config, log: Logger, listeningOn: string): Promise<void> {
  const { service, database, keys } = gateway;
  // A server that listens on every address is reached from this machine at the loopback address.
  const url = listeningOn.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, '//127.0.0.1:');
  const addresses = [
    row('Overview', `${url}/`),
    row('REST', `${url}${service.basePath}${service.resources[0]?.operationRows[0]?.path}`),
    row('Reference', `${url}${REFERENCE_PATH}`),
    row('GraphQL', `${url}${GRAPHQL_PATH}`),
    ...(url === listeningOn ? [] : [row('', 'as seen from the machine or container that it runs in')]),
  ];
  // With MIGRATE_ON_START=false there may be no tables yet.
  if (!config.migrateOnStart && (await migrationStatus(database)).pending.length > 0) {
    return print([...addresses, '', 'Migrations are pending: npm run migrate']);
  }
  const isFirst = (await keys.count()) === 0;
  // No other process can make a key in a database in memory.
  if (isFirst && config.hasDatabaseUrl && !config.inMemory) {
    return print([...addresses, '', 'No API key exists yet. Make one where the gateway runs:', '', `  ${CREATE_KEY}`]);
  }
  const key = isFirst ? await inTransaction(database, (within) => addFirst(service, config, within)) : undefined;
  if (key !== undefined) print(greeting(service, config, url, addresses, key));
  else if (process.stdout.isTTY) print([...addresses, row('Lost the key?', ANOTHER_KEY)]);
  else if (!config.hasDatabaseUrl) log.info(`lost the key? ${ANOTHER_KEY}`);
}

/** Adds samples and a first key. Gives the key; undefined when another process has added one meanwhile. */
async function addFirst(service: Service, { sampleData }: Config, within: Database): Promise<string | undefined> {
  const keys = createKeyStore(within);
  if ((await keys.count()) > 0) return undefined;
  if (sampleData) await addSamples(within, service.resources);
  return (await keys.create({ name: 'first key', expiresAt: null })).key;
}

function greeting(
  service: Service,
  { graphiql }: Config,
  url: string,
  addresses: readonly string[],
  key: string,
): string[] {
  const { name, basePath, firstCalls } = service;
  const bearer = `-H 'Authorization: Bearer ${key}'`;
  const body = JSON.stringify({ query: firstCalls.graphql });
  return [
    styleText('bold', `Welcome to the ${name}.`),
    '',
    ...addresses,
    '',
    row('Your API key', styleText('green', key)),
    row('', 'Shown this once; only its hash is stored. Another one:'),
    row('', CREATE_KEY),
    '',
    'Try REST:',
    '',
    `  curl ${bearer} '${url}${basePath}${firstCalls.rest}'`,
    '',
    'Try GraphQL:',
    '',
    `  curl ${bearer} -H 'Content-Type: application/json' -d '${body}' ${url}${GRAPHQL_PATH}`,
    '',
    'Explore in the browser, with the key in place:',
    '',
    `  ${styleText('cyan', `${url}${graphiql ? GRAPHQL_PATH : REFERENCE_PATH}#key=${key}`)}`,
  ];
}

function row(label: string, value: string): string {
  return `  ${label.padEnd(14)}${value}`;
}

function print(lines: readonly string[]): void {
  console.log(['', ...lines, ''].join('\n'));
}
