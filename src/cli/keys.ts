import { CREATE_KEY, type ProgramInput, UsageError } from '../gateway/command-line.ts';
import { inTransaction } from '../gateway/database/connect.ts';
import { createKeyStore, type StoredKey } from '../gateway/keys/key-store.ts';
import { maskCredentials } from '../gateway/masking.ts';
import { addSamples } from '../gateway/store/store.ts';
import { type Int64, parseInt64 } from '../lib/exact-json/exact-json.ts';
import { printTable, runCommand, UNPRINTABLE, visibleName, withDatabase } from './command.ts';

/** How long a key stays valid after its rotation, without `--grace`. */
const GRACE = '24h';

/** Units of time in ms, the longest first. */
const UNITS = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 };

const HELP = `API keys: every request needs one, as "Authorization: Bearer KEY".

  npm run keys -- create --name NAME [--expires 90d] [--read-only]   make a key and print it, this once
  npm run keys -- rotate ID [--grace 24h]   a new key in place of one that ends after the grace
  npm run keys -- list [--json]             all keys, never the keys themselves
  npm run keys -- revoke ID                 a key that must not work any more

  --name NAME       who or what the key is for, 1 to 255 characters
  --expires TIME    a whole number and s, m, h or d: 90d; without it the key does not expire
  --read-only       the key may list and get animals, and add none
  --grace TIME      how long the old key goes on, as above or 0s; ${GRACE} without it
  --json            for programs

A new key works at once; a revoked one stops everywhere within five seconds. A rotated key's successor has its name, its
rights and, if it expires, its lifetime, counted from now.`;

const OPTIONS = {
  name: { type: 'string' },
  expires: { type: 'string' },
  'read-only': { type: 'boolean' },
  grace: { type: 'string' },
  json: { type: 'boolean' },
} as const;

type Input = ProgramInput<typeof OPTIONS>;

const loadPetstore = () => import('../petstore/petstore.ts'); // the whole schema, which only a first key needs

/** The verbs, with the arguments that each takes. */
const VERBS: Record<string, { takesId?: true; options: (keyof typeof OPTIONS)[]; run(input: Input): Promise<void> }> = {
  create: { options: ['name', 'expires', 'read-only'], run: createKey },
  rotate: { takesId: true, options: ['grace'], run: rotateKey },
  list: { options: ['json'], run: listKeys },
  revoke: { takesId: true, options: [], run: revokeKey },
};

await runCommand({
  help: HELP,
  options: OPTIONS,
  positionals: 2,
  optionsOf: (word) => verbOf(word)?.options,
  async run(input) {
    const [verb = '', word] = input.positionals;
    const known = verbOf(verb);
    if (known === undefined || (word !== undefined) !== (known.takesId ?? false)) {
      throw new UsageError('Say what to do: create --name NAME, list, rotate ID or revoke ID; --help tells more.');
    }
    const foreign = Object.keys(input.values).find((name) => !known.options.some((option) => option === name));
    if (foreign !== undefined) throw new UsageError(`keys ${verb} does not take --${foreign}; --help tells more.`);
    await known.run(input);
  },
});

function verbOf(word = '') {
  return Object.hasOwn(VERBS, word) ? VERBS[word] : undefined;
}

async function createKey({ values, config }: Input): Promise<void> {
  const { name = '', expires, 'read-only': readOnly = false } = values;
  if (name.trim() === '' || name.length > 255) throw new UsageError('--name must be 1 to 255 characters.');
  if (UNPRINTABLE.test(name)) throw new UsageError('--name must have no control or other invisible characters.');
  const expiresAt = expires === undefined ? null : new Date(Date.now() + parseDuration('expires', expires));
  const { id, key, added } = await withDatabase(config, (database) =>
    inTransaction(database, async (within) => {
      const keys = createKeyStore(within);
      // `npm start` adds samples only where no key is yet.
      const isFirst = !config.hasDatabaseUrl && config.sampleData && (await keys.count()) === 0;
      const added = isFirst ? await addSamples(within, (await loadPetstore()).PETSTORE.resources) : 0;
      return { ...(await keys.create({ name, expiresAt, readOnly })), added };
    }),
  );
  if (added > 0) console.log(`The new store has ${added} sample animals; SAMPLE_DATA=false adds none.`);
  printKey(`Key ${id} for "${name}", ${readOnly ? 'read-only, ' : ''}valid ${untilWhen(expiresAt)}.`, key);
}

async function rotateKey({ positionals, values, config }: Input): Promise<void> {
  const id = readId(positionals[1]);
  const graceMs = values.grace === '0s' ? 0 : parseDuration('grace', values.grace ?? GRACE);
  const rotation = await withDatabase(config, (database) => createKeyStore(database).rotate(id, graceMs));
  if (rotation === undefined) throw noSuchKey(id);
  const { old, created, endsAt } = rotation;
  if (created === undefined) {
    const state = old.revokedAt === null ? 'has expired' : 'is revoked';
    throw new UsageError(`Key ${id} ${state} and cannot be rotated: npm run keys -- create makes a new one.`);
  }
  const what = `Key ${created.id} takes the place of key ${id}, which is valid ${untilWhen(endsAt)}.`;
  printKey(`${what} The new one is valid ${untilWhen(created.expiresAt)}.`, created.key);
}

async function listKeys({ values, config }: Input): Promise<void> {
  const keys = await withDatabase(config, (database) => createKeyStore(database).list());
  const rows = keys.map(describeKey);
  if (values.json) return console.log(JSON.stringify(rows, null, 2));
  if (rows.length === 0) return console.log(`No keys yet in ${maskCredentials(config.databaseUrl)}: ${CREATE_KEY}`);
  const day = (moment: string | null) => moment?.slice(0, 10) ?? '-';
  const lines = rows.map(({ id, name, prefix, state, rights, created, lastUsed }) => {
    return [id, visibleName(name), prefix, state, rights === 'full' ? 'full' : 'read', day(created), day(lastUsed)];
  });
  printTable([['id', 'name', 'prefix', 'state', 'rights', 'created', 'last used'], ...lines], 1);
}

async function revokeKey({ positionals, config }: Input): Promise<void> {
  const id = readId(positionals[1]);
  const found = await withDatabase(config, (database) => createKeyStore(database).revoke(id));
  if (!found) throw noSuchKey(id);
  console.log(`Key ${id} is revoked: it stops working everywhere within five seconds.`);
}

/** Prints `what` and the key. The key is alone on the last line, for scripts. */
function printKey(what: string, key: string): void {
  console.log(`${what} It is shown this once; only its hash is stored:`);
  console.log(key);
}

function untilWhen(date: Date | null): string {
  return date ? `until ${date.toISOString()}` : 'until it is revoked';
}

function readId(word = ''): Int64 {
  const id = parseInt64(word);
  if (id === undefined) throw new UsageError(`"${word}" is no key id; npm run keys -- list shows them.`);
  return id;
}

function noSuchKey(id: Int64): UsageError {
  return new UsageError(`No key has the id ${id}; npm run keys -- list shows them.`);
}

/** Reads a time such as `90d`, in ms. Throws UsageError for other texts and beyond a hundred years. */
function parseDuration(option: 'expires' | 'grace', text: string): number {
  const [, count = '', letter = ''] = /^([1-9]\d{0,9})([smhd])$/.exec(text) ?? [];
  const [, unitMs = 0] = Object.entries(UNITS).find(([unit]) => unit.startsWith(letter)) ?? [];
  const ms = Number(count) * unitMs;
  if (ms > 0 && ms <= 36_525 * UNITS.day) return ms;
  throw new UsageError(`--${option} "${text}" must be a whole number and s, m, h or d, such as 90d.`);
}

/** A key as `list --json` prints it, with moments in ISO 8601. */
function describeKey(key: StoredKey) {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    state: stateOf(key),
    rights: key.readOnly ? ('read-only' as const) : ('full' as const),
    created: key.createdAt.toISOString(),
    expires: key.expiresAt?.toISOString() ?? null,
    lastUsed: key.lastUsedAt?.toISOString() ?? null,
    revoked: key.revokedAt?.toISOString() ?? null,
  };
}

/** Such as `expires in 3 days`: rounded down, so that a key never seems to last longer than it does. */
function stateOf({ revokedAt, expiresAt }: StoredKey): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  const leftMs = expiresAt.getTime() - Date.now();
  if (leftMs <= 0) return 'expired';
  const [unit, unitMs] = Object.entries(UNITS).find(([, each]) => leftMs >= each) ?? ['second', leftMs];
  const count = Math.floor(leftMs / unitMs);
  return `expires in ${count} ${unit}${count === 1 ? '' : 's'}`;
}
