import { styleText } from 'node:util';
import type { Config } from '../config.ts';
import type { Gateway } from '../gateway.ts';
import { NEWCOMERS_PETS, samplePet } from '../pets/sample-pets.ts';

/**
 * Greets whoever starts for the first time. A newcomer, who has set no DATABASE_URL, gets sample animals and a
 * key, shown this once; on a database of one's own, only the command that makes a key is named.
 */
export async function welcome({ keys, pets }: Gateway, config: Config, url: string): Promise<void> {
  if (!config.migrateOnStart) return; // there may be no tables yet, and who migrates by hand is no newcomer
  if ((await keys.count()) > 0) return;
  if (!config.embedded) return print(['No API key exists yet. Make one:', '', '  npm run keys -- create --name NAME']);
  if (config.sampleData && (await pets.isEmpty())) {
    await pets.addPets(Array.from({ length: NEWCOMERS_PETS }, (_, index) => samplePet(index)));
  }
  const { key } = await keys.create({ name: 'first key', expiresAt: null });
  print(greeting(reachable(url), key));
}

/** The address for a program on this machine: one that listens everywhere is reached at the loopback address. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

function greeting(url: string, key: string): string[] {
  const bearer = `-H 'Authorization: Bearer ${key}'`;
  const query = '{"query":"{ pets(status: AVAILABLE, limit: 3) { id name categoryId status } }"}';
  return [
    styleText('bold', 'Welcome to the Petstore Gateway.'),
    '',
    row('Overview', `${url}/`),
    row('REST', `${url}/v1/pets`),
    row('Reference', `${url}/docs`),
    row('GraphQL', `${url}/graphql`),
    '',
    row('Your API key', styleText('green', key)),
    row('', 'Shown this once; only its hash is stored. More: npm run keys -- create --name NAME'),
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
