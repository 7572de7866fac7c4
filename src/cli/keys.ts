import { UsageError } from '../failure.ts';
import { parseInt64 } from '../int64.ts';
import { type ApiKey, createKeyStore } from '../keys/key-store.ts';
import { type CommandInput, printTable, runCommand, withDatabase } from './command.ts';

const HELP = `API keys: every request needs one, as "Authorization: Bearer KEY".

  npm run keys -- create --name NAME [--expires 90d]   make a key and print it, this once
  npm run keys -- list [--json]                        all keys, never the keys themselves
  npm run keys -- revoke ID                            a key that must not work any more

  --name NAME       who or what the key is for, 1 to 255 characters
  --expires TIME    a whole number and s, m, h or d: 90d; without it the key does not expire
  --json            for programs

A new key works at once; a revoked one stops everywhere within five seconds.`;

const OPTIONS = {
  name: { type: 'string' },
  expires: { type: 'string' },
  json: { type: 'boolean' },
} as const;

type Input = CommandInput<typeof OPTIONS>;

await runCommand({
  help: HELP,
  options: OPTIONS,
  positionals: 2,
  async run(input) {
    const [verb, word] = input.positionals;
    if (verb === 'revoke' && word !== undefined) return revokeKey(input, word);
    if (verb === 'create' && word === undefined) return createKey(input);
    if (verb === 'list' && word === undefined) return listKeys(input);
    throw new UsageError('Say what to do: create --name NAME, list or revoke ID; --help tells more.');
  },
});

async function createKey({ values, config }: Input): Promise<void> {
  const name = values.name ?? '';
  if (name.trim() === '' || name.length > 255) throw new UsageError('--name must be 1 to 255 characters.');
  const expiresAt = values.expires === undefined ? null : new Date(Date.now() + parseDuration(values.expires));
  const { id, key } = await withDatabase(config, (database) => createKeyStore(database).create({ name, expiresAt }));
  const until = expiresAt ? `until ${expiresAt.toISOString()}` : 'until it is revoked';
  console.log(`Key ${id} for "${name}", valid ${until}. It is shown this once; only its hash is stored:`);
  console.log(key);
}

async function listKeys({ values, config }: Input): Promise<void> {
  const keys = await withDatabase(config, (database) => createKeyStore(database).list());
  const rows = keys.map(describeKey);
  if (values.json) return console.log(JSON.stringify(rows, null, 2));
  if (rows.length === 0) return console.log('No keys yet: npm run keys -- create --name NAME');
  const [first] = rows;
  printTable([Object.keys(first ?? {}), ...rows.map((row) => Object.values(row).map((cell) => cell ?? '-'))]);
}

async function revokeKey({ config }: Input, word: string): Promise<void> {
  const id = parseInt64(word);
  if (id === undefined) throw new UsageError(`"${word}" is no key id; npm run keys -- list shows them.`);
  const found = await withDatabase(config, (database) => createKeyStore(database).revoke(id));
  if (!found) throw new UsageError(`No key has the id ${id}; npm run keys -- list shows them.`);
  console.log(`Key ${id} is revoked: it stops working everywhere within five seconds.`);
}

function describeKey(key: ApiKey): Record<string, string | null> {
  const moment = (date: Date | null) => date?.toISOString() ?? null;
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    created: moment(key.createdAt),
    expires: moment(key.expiresAt),
    lastUsed: moment(key.lastUsedAt),
    revoked: moment(key.revokedAt),
  };
}

/** `90d` in ms; a hundred years at most. */
function parseDuration(text: string): number {
  const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
  const [, count = '', unit = ''] = /^([1-9]\d{0,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (units[unit as keyof typeof units] ?? Number.NaN); // another unit gives NaN
  if (!(ms > 0 && ms <= 36_525 * units.d)) {
    throw new UsageError(`--expires "${text}" must be a whole number and s, m, h or d, such as 90d.`);
  }
  return ms;
}
