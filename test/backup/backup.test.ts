import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readRows, readWholeSchema } from '../migrations/whole-schema.ts';
import { describeEachEngine } from '../support/engines.ts';
import { connectClient, eventually, type LoadAnswer, unlessShed } from '../support/load.ts';
import { type BlockEnd, readBlock, runBlock } from '../support/page-blocks.ts';
import { openDatabase, prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';
import { has } from '../support/tools.ts';
import { ROOT } from '../support/tracked-files.ts';
import { openSite, type Programs } from './sites.ts';

/** The first id beyond those that a double can tell apart. */
const BEYOND = 9_007_199_254_740_993n;
const CLIENTS = 6;
/** So many animals more before the backup, and after it. */
const ENOUGH = 60;
const MANY = 100_000;
const NAMES = [
  '🐾 日本 ñ',
  'two blanks at the end  ',
  '',
  `'"\\\`%_; -- /* $HOME`,
  'a\r\n\t\0\u001a\b\u2028z',
  'x'.repeat(60_000),
];

/** An animal that was acknowledged. */
interface Created {
  readonly id: string;
  readonly body: string;
  readonly text: string;
  /** Its Idempotency-Key, if it had one. */
  readonly once: string | undefined;
}

/** Whether the database or a client was too late. */
const isTooLate = ({ status, text }: LoadAnswer): boolean => status === 503 || text.includes('did not arrive in time');

/** Clients that create until they are stopped, half of them with an Idempotency-Key. */
function startCreates(url: string, key: string, created: Created[]) {
  let stopped = false;
  const create = async ({ ask }: ReturnType<typeof connectClient>, name: string, once: string | undefined) => {
    const body = JSON.stringify({ name, categoryId: 1, status: 'sold' });
    const headers = once === undefined ? {} : { 'idempotency-key': once };
    const send = () => unlessShed(() => ask('POST', '/v1/pets', body, headers));
    let answer = await send();
    // A dump on a loaded machine, which may hold up this process, too: nothing is acknowledged, and `more` waits.
    if (isTooLate(answer) && once === undefined) return;
    // With a key it and its record may be there all the same, or the first one is still at work.
    for (let isAgain = false; isTooLate(answer) || (isAgain && answer.status === 409); isAgain = true) {
      await delay(50);
      answer = await send();
    }
    const { status, text } = answer;
    expect([status, text]).toEqual([201, expect.anything()]);
    created.push({ id: idOf(text), body, text, once });
  };
  const clients = Array.from({ length: CLIENTS }, async (_, number) => {
    const client = connectClient(url, key);
    const once = (name: string) => (number % 2 === 0 ? `once-${encodeURIComponent(name)}`.slice(0, 255) : undefined);
    for (const each of NAMES) await create(client, `${number}${each}`, once(`${number}${each}`));
    for (let round = 0; !stopped; round++) await create(client, `${number}-${round}`, once(`${number}-${round}`));
  });
  return {
    /** Resolves when so many more were acknowledged. */
    async more(count: number) {
      const enough = created.length + count;
      await eventually(() => created.length >= enough, 60_000, 'animals are created');
    },
    async stop() {
      stopped = true;
      await Promise.all(clients);
    },
  };
}

const idOf = (text: string) => /"id":(\d+)/.exec(text)?.[1] ?? '';

/** All that a database has: its schema, and the rows of each table by their ids. */
async function contentOf(url: string) {
  const database = await openDatabase(url);
  const schema = await readWholeSchema(database);
  return { schema, rows: (await readRows(database, schema)) as Record<string, Record<string, unknown>[]> }; // as Knex reads them
}

const isNotWhole = ({ code, stderr }: BlockEnd) => code !== 0 && stderr.endsWith('NO BACKUP\n');

describeEachEngine('backup and restore', (engine) => {
  const makers: readonly Programs[] = engine.name === 'sqlite' ? ['Node'] : ['MySQL', 'MariaDB'];

  test.for(makers)('by %s, while clients create: complete, exact, of one moment', async (maker, { skip }) => {
    const site = await openSite(engine, maker, skip);
    const prepared = await prepareDatabase(engine, site.sourceUrl);
    const first = { id: String(BEYOND), name: 'the first', category_id: String(-(2n ** 63n)) };
    await prepared.database.knex('pets').insert(first);
    const gateway = await startProcess({ DATABASE_URL: site.sourceUrl, WORKERS: '2' });
    const luna = ['POST', '/v1/pets', '{"name":"Luna","categoryId":1}', { 'idempotency-key': 'last-night' }] as const;
    const lunaId = idOf((await connectClient(gateway.url, prepared.key).ask(...luna)).text);
    const created: Created[] = [];
    const load = startCreates(gateway.url, prepared.key, created);
    await load.more(ENOUGH);
    const before = [...created];
    expect(await site.backUp()).toMatchObject({ code: 0, stderr: '' });
    await load.more(ENOUGH);
    await load.stop();
    expect(statSync(join(site.folder, site.file)).mode & 0o777).toBe(0o600);
    expect(readdirSync(site.folder).filter((name) => name.includes('part'))).toEqual([]);
    const was = await contentOf(site.sourceUrl);
    gateway.child.kill();
    await gateway.exited;

    expect(await site.restore()).toMatchObject({ code: 0, stderr: '' });
    const is = await contentOf(site.restoredUrl);
    expect(is.schema).toEqual(was.schema);
    for (const [table, rows = []] of Object.entries(is.rows)) {
      const there = new Set(rows.map(({ id }) => id));
      if (table !== 'api_keys') expect(rows).toEqual(was.rows[table]?.filter(({ id }) => there.has(id)));
    }
    expect(is.rows.api_keys?.map(({ hash }) => hash)).toEqual(was.rows.api_keys?.map(({ hash }) => hash));
    const ids = new Set(is.rows.pets?.map(({ id }) => String(id)));
    expect(before.filter(({ id }) => !ids.has(id))).toEqual([]);
    // An animal and the record of its Idempotency-Key are there together, or neither is.
    const keyed = created.filter(({ id, once }) => once !== undefined && ids.has(id)).map(({ id }) => id);
    const recorded = is.rows.idempotency_keys?.map(({ result_id }) => String(result_id));
    expect(recorded?.sort()).toEqual([lunaId, ...keyed].sort());

    const { url } = await startProcess({ DATABASE_URL: site.restoredUrl });
    const env = { DATABASE_URL: site.restoredUrl, RESTORED: url, KEY: prepared.key };
    if (has('curl')) {
      const drill = await runBlock(readBlock('docs/drills.md', 'bash restore-a-backup'), ROOT, env);
      expect(drill.stdout).toBe(readBlock('docs/drills.md', 'text restore-a-backup'));
    }
    const { ask } = connectClient(url, prepared.key);
    for (const { id, body, text, once } of before) {
      expect((await ask('GET', `/v1/pets/${id}`)).text).toBe(text);
      if (once === undefined) continue;
      const again = await ask('POST', '/v1/pets', body, { 'idempotency-key': once });
      expect([again.status, again.headers['idempotency-replayed'], again.text]).toEqual([201, 'true', text]);
    }
    const { text } = await ask('POST', '/v1/pets', '{"name":"new","categoryId":1}');
    expect([...ids].every((id) => BigInt(id) < BigInt(idOf(text)))).toBe(true);
  });

  test.for(makers)('by %s: a backup that is not whole says so, and leaves the older one', async (maker, { skip }) => {
    const site = await openSite(engine, maker, skip);
    writeFileSync(join(site.folder, site.file), 'older');
    // Before there is anything: no such file, or no table that a gateway made.
    if (maker === 'Node') expect(await site.backUp()).toSatisfy(isNotWhole);
    const { database } = await prepareDatabase(engine, site.sourceUrl);
    for (const name of NAMES) await database.knex('pets').insert({ name, category_id: 1 });
    expect(await site.backUp('ulimit -f 16')).toSatisfy(isNotWhole); // as on a full disk
    if (maker === 'Node') {
      // What is damaged already would come back damaged.
      await database.knex.raw('PRAGMA ignore_check_constraints = ON');
      await database.knex('pets').insert({ name: 'cow', category_id: 1, status: 'cow' });
      expect(await site.backUp()).toSatisfy(isNotWhole);
      await database.knex('pets').where({ name: 'cow' }).delete();
      // An empty file, which SQLite takes for a whole store without tables.
      expect(await site.backUp('node() { : > empty; command node "$1" empty "$3"; }')).toSatisfy(isNotWhole);
    } else {
      // A program that ends well in the middle, one that fails at the very end, and one that fails at once.
      const dump = maker === 'MySQL' ? 'mysqldump' : 'mariadb-dump';
      for (const end of ['| head -c 20000', '; false'])
        expect(await site.backUp(`${dump}() { command ${dump} "$@" ${end}; }`)).toSatisfy(isNotWhole);
      expect(await site.backUp('DB=nowhere')).toSatisfy(isNotWhole);
    }
    expect(readFileSync(join(site.folder, site.file), 'utf8')).toBe('older');
    expect(readdirSync(site.folder).filter((name) => maker === 'Node' && name.includes('part'))).toEqual([]);
    expect((await site.backUp()).code).toBe(0); // what was left behind is not in the way
  });

  test.for(makers)('by %s: what is not whole is not restored', async (maker, { skip }) => {
    const site = await openSite(engine, maker, skip);
    const { database } = await prepareDatabase(engine, site.sourceUrl);
    for (const name of NAMES) await database.knex('pets').insert({ name, category_id: 1 });
    expect((await site.backUp()).code).toBe(0);
    const file = join(site.folder, site.file);
    const bytes = readFileSync(file);
    writeFileSync(file, maker === 'Node' ? Buffer.from(bytes).fill(0, 4096, 8192) : bytes.subarray(0, -40));
    expect((await site.restore()).code).not.toBe(0);
    expect(await database.knex('pets').select('id')).toHaveLength(NAMES.length); // what is there stays
    // Nothing was begun that would be in the way of a good one.
    writeFileSync(file, bytes);
    if (maker === 'Node') {
      expect((await site.restore('ulimit -f 16')).code).not.toBe(0); // as on a full disk
      expect(await database.knex('pets').select('id')).toHaveLength(NAMES.length);
      writeFileSync(file, ''); // a copy that failed
      expect(await site.restore()).toMatchObject({ code: 1, stderr: expect.stringMatching(/NOT RESTORED\n$/) });
      expect(await database.knex('pets').select('id')).toHaveLength(NAMES.length);
      expect(existsSync(join(site.folder, 'data/aside'))).toBe(false);
      writeFileSync(file, bytes);
    }
    expect((await site.restore()).code).toBe(0);
  });

  if (engine.name !== 'sqlite') return;

  test('backups that run at once are all whole', async ({ skip }) => {
    const site = await openSite(engine, 'Node', skip);
    const { database } = await prepareDatabase(engine, site.sourceUrl);
    // So many that each backup takes longer than the starts of the processes lie apart.
    await database.knex.raw(`INSERT INTO pets (name, category_id, status)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY}) SELECT 'Rex', 1, 'sold' FROM n`);
    const ends = await Promise.all(Array.from({ length: 4 }, () => site.backUp()));
    expect(ends).toEqual(ends.map(() => ({ code: 0, stdout: '', stderr: '' })));
    expect((await site.restore()).code).toBe(0);
    expect((await contentOf(site.restoredUrl)).rows.pets).toHaveLength(MANY);
  });
});
