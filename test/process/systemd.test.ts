import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/load.ts';
import { readBlock } from '../support/page-blocks.ts';
import { noteLeftOut } from '../support/tools.ts';
import { boot, canBoot, type Machine } from './systemd.ts';

const ENV_FILE = '/etc/petstore-gateway.env';

const isPossible = canBoot();
if (!isPossible)
  noteLeftOut('the gateway under systemd', 'root, apt install systemd curl, control groups of version 2');

describe.runIf(isPossible)('under systemd, as docs/run.md says', () => {
  let machine: Machine;
  let key: string;

  const show = async (property: string) =>
    (await machine.run(`systemctl show petstore-gateway --value --property=${property}`)).trim();
  const curl = (words: string) => machine.run(`curl -s http://127.0.0.1:4000${words}`);
  const isReady = () =>
    eventually(
      () =>
        curl('/readyz').then(
          (text) => text.includes('"ok"'),
          () => false,
        ),
      60_000,
      'the gateway is ready',
    );
  const onPage = (name: string) => machine.run(readBlock('docs/run.md', `bash systemd-${name}`));

  beforeAll(async () => {
    machine = await boot();
    await onPage('install');
    await isReady();
    key = (await onPage('key')).trimEnd().split('\n').at(-1) ?? '';
  });

  test('it serves', async () => {
    const header = `--header 'Authorization: Bearer ${key}'`;
    const created = await curl(`/v1/pets ${header} --json '{"name":"Rex","categoryId":1}'`);
    expect(JSON.parse(await curl(`/v1/pets ${header}`))).toEqual([JSON.parse(created)]);
  });

  test('it has no more rights than the unit says', async () => {
    const status = await machine.run(`cat /proc/${await show('MainPID')}/status`);
    for (const line of [/^CapEff:\t0+$/m, /^NoNewPrivs:\t1$/m, /^Seccomp:\t2$/m]) expect(status).toMatch(line);
    expect(status).not.toMatch(/^Uid:\t0\t/m);
  });

  test('one worker without memory stops no other', async () => {
    expect(await show('OOMPolicy')).toBe('continue');
  });

  test('journald is told to drop no line of its log', async () => {
    // These links are what journald reads; of a limit of 0 there is none, and its own counts.
    const links = await machine.run('readlink /run/systemd/units/log-rate-limit-*:petstore-gateway.service');
    expect(links).toBe('1000000\n1000000\n'); // so many lines in so many microseconds
  });

  test('a process that is killed is replaced', async () => {
    const killed = await show('MainPID');
    await machine.run(`kill -KILL ${killed}`);
    await eventually(async () => Number(await show('NRestarts')) === 1, 60_000, 'another one started');
    await isReady();
    expect(await show('MainPID')).not.toBe(killed);
  });

  test('its store is backed up and restored under its own account, and nothing is lost', async () => {
    const header = `--header 'Authorization: Bearer ${key}'`;
    const create = (name: string) => curl(`/v1/pets ${header} --json '{"name":"${name}","categoryId":1}'`);
    const names = async (): Promise<string[]> =>
      JSON.parse(await curl(`/v1/pets ${header}`)).map(({ name }: { name: string }) => name);
    const backup = '/var/lib/petstore-gateway/backups/petstore.sqlite';
    const onUpgrade = (name: string) => readBlock('docs/upgrade.md', `bash systemd-${name}`);
    await machine.run(onUpgrade('backup'));
    expect((await machine.run('systemctl list-timers petstore-backup.timer')).trim()).toContain(
      'petstore-backup.service',
    );
    const before = await names();
    await create('Ada');
    await machine.run('systemctl start petstore-backup.service');
    await create('Kim');
    expect(await machine.run(`cd ${backup.replace(/[^/]+$/, '')} && ls`)).toBe('petstore.sqlite\npetstore.sqlite.1\n');
    expect((await machine.run(`stat -L -c '%a %U' ${backup}`)).trim()).toMatch(/^600 (?!root)/);
    await machine.run(`cp ${backup} /run/from-elsewhere && chmod 600 /run/from-elsewhere`);
    await machine.run(`export BACKUP=/run/from-elsewhere; ${onUpgrade('restore')}`);
    await machine.run('systemctl start petstore-gateway');
    await isReady();
    expect(await names()).toEqual([...before, 'Ada']);
    await create('Bo'); // it may write, too
    expect(await names()).toEqual([...before, 'Ada', 'Bo']);
  });

  test('a stop ends it in good order', async () => {
    await machine.run('systemctl stop petstore-gateway');
    expect([await show('Result'), await show('ExecMainStatus')]).toEqual(['success', '0']);
  });

  test('a wrong setting ends it once and for all', async () => {
    await machine.run(`echo WORKERS=many >> ${ENV_FILE} && systemctl start petstore-gateway`);
    await eventually(async () => (await show('ActiveState')) === 'failed', 60_000, 'the unit has failed');
    expect([await show('ExecMainStatus'), await show('NRestarts')]).toEqual(['2', '0']);
  });
});
