import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/gateway/product.ts';
import { command, expectFailure } from './command.ts';

const COMMANDS = ['../main', 'keys', 'migrate', 'seed', 'print-schema', 'deprecation-report', 'doctor'];

/** Calls that are wrong, and what the one line says. */
const WRONG: readonly (readonly [call: string, line: RegExp, env?: Record<string, string>])[] = [
  ['keys', /^Say what to do: create --name NAME, list, rotate ID or revoke ID/],
  ['keys make', /^Say what to do/],
  ['keys create', /^--name must be 1 to 255 characters\.$/],
  ['keys create --name=', /^--name must be 1 to 255/],
  [`keys create --name=${'x'.repeat(256)}`, /^--name must be 1 to 255/],
  ['keys create --name', /--name.* argument missing/],
  ['keys create --name x --expires 90', /^--expires "90" must be a whole number and s, m, h or d, such as 90d\.$/],
  ['keys create --name x --expires 0d', /^--expires "0d" must be/],
  ['keys create --name x --expires -1d', /^Option '--expires' argument is ambiguous; --help/],
  ['keys create --name x --expires 1.5d', /^--expires "1.5d" must be/],
  ['keys create --name x --expires 1w', /^--expires "1w" must be/],
  ['keys create --name x --expires 36526d', /^--expires "36526d" must be/],
  ['keys create more --name x', /^Say what to do/],
  ['keys create --name x --json', /^keys create does not take --json/],
  ['keys create --name a\u001bb', /^--name must have no control or other invisible characters\.$/],
  ['keys create --name a\u202eb', /^--name must have no control/],
  ['keys list --name x', /^keys list does not take --name/],
  ['keys revoke 1 --expires 1d', /^keys revoke does not take --expires/],
  ['keys rotate', /^Say what to do/],
  ['keys rotate 1 --read-only', /^keys rotate does not take --read-only/],
  ['keys rotate 1 --grace soon', /^--grace "soon" must be/],
  ['keys list --jsn', /Unknown option '--jsn'/],
  ['keys list more', /^Say what to do/],
  ['keys revoke', /^Say what to do/],
  ['keys revoke abc', /^"abc" is no key id; npm run keys -- list shows them\.$/],
  ['keys revoke 01', /^"01" is no key id/],
  ['keys revoke 9223372036854775808', /is no key id/],
  ['keys revoke 1\n2', /^"1 2" is no key id/],
  ['keys revoke 1 2', /^Unknown word "2"/],
  ['migrate up', /^Unknown word "up"/],
  ['migrate --stat', /Unknown option '--stat'/],
  ['migrate --status --rollback', /^Give --status or --rollback, not both\.$/],
  ['migrate --status=yes', /--status.* does not take an argument/],
  ['seed', /^--pets must be a whole number from 1 to 100000000\.$/],
  ['seed 100', /^Unknown word "100"/],
  ['seed --pets 0', /^--pets must be/],
  ['seed --pets -5', /^Option '--pets' argument is ambiguous; --help/],
  ['seed --pets 1e3', /^--pets must be/],
  ['seed --pets 100000001', /^--pets must be/],
  ['print-schema now', /^Unknown word "now"/],
  ['print-schema --json', /Unknown option '--json'/],
  ['deprecation-report', /^Say what to do: report/],
  ['deprecation-report show', /^Say what to do: report/],
  ['deprecation-report report --days 0', /^--days must be a whole number from 1 to 3650\.$/],
  ['deprecation-report report --days 3651', /^--days must be/],
  ['deprecation-report report --days soon', /^--days must be/],
  ['deprecation-report report more', /^Unknown word "more"/],
  ['../main --port 5000', /^Unknown option '--port'; --help/],
  ['../main now', /^Unknown word "now"/],
  [
    '../main',
    /^WORKERS="02" is not allowed: 1, because sqlite::memory: is seen by one process only$/,
    memory('WORKERS', ' 02 '), // the value is what was written
  ],
  ['../main', /^MIGRATE_ON_START="false" is not allowed: true, because nobody/, memory('MIGRATE_ON_START', 'false')],
  ['keys create --name x', /^sqlite::memory: ends with its process/, memory()],
  ['seed --pets 1', /^sqlite::memory: ends with its process/, memory()],
  ['seed', took('--pets', 'seed -- --pets …'), swallowed('seed', { pets: '5' })],
  ['seed 5', took('--pets', 'seed -- --pets …'), swallowed('seed', { pets: 'true' })], // for npm, 5 is a word of its own
  [
    'keys create',
    took('--name, --expires', 'keys -- create --name … --expires …'),
    swallowed('keys', { name: 'foo', expires: '90d' }),
  ],
  ['keys list', took('--json', 'keys -- list --json'), swallowed('keys', { json: 'true' })],
  ['keys create', /^--name must be 1 to 255/, swallowed('keys', { json: 'true' })], // a setting of npm, which it does not take
  ['deprecation-report report', /^npm took --json for itself/, swallowed('deprecations', { json: 'true' })],
  ['migrate', /^npm took --rollback for itself/, swallowed('migrate', { rollback: 'true' })],
  ['doctor --fix', /Unknown option '--fix'/],
  ['doctor please', /^Unknown word "please"/],
  ['doctor', /^PORT="x" is not allowed: a whole number from 0 to 65535$/, { PORT: 'x' }],
  ['keys list', /^WORKERS="0" is not allowed: auto or a whole number from 1 to 256$/, { WORKERS: '0' }],
  ['migrate', /^DATABASE_URL=.*is not allowed: mysql:/, { DATABASE_URL: 'postgres://u:S3cret@h/d' }],
  ['keys list', /^DATABASE_URL must have the form mysql:/, { DATABASE_URL: 'mysql://u:S3cret@h' }],
  ['seed --pets 1', /^DATABASE_URL: unknown option "tls"/, { DATABASE_URL: 'mysql://u:S3cret@h/d?tls=S3cret' }],
];

function memory(name = 'PORT', value = '0'): Record<string, string> {
  return { DATABASE_URL: 'sqlite::memory:', [name]: value };
}

/** What is said of options that npm took: the call that gives them to us. */
function took(options: string, call: string): RegExp {
  return new RegExp(`^npm took ${options} for itself; put -- first: npm run ${call}$`);
}

/** What npm adds to the environment when its own words end at a missing `--`. */
function swallowed(script: string, options: Record<string, string>): Record<string, string> {
  const taken = Object.entries(options).map(([name, value]) => [`npm_config_${name}`, value]);
  return { npm_lifecycle_event: script, ...Object.fromEntries(taken) };
}

/** They all start at once. */
const LIMIT_MS = 180_000;

const CALLS = WRONG.map(([call, line, env = {}]) => ({ call, line, env }));

describe('commands › --help and --version', () => {
  it.concurrent.each(COMMANDS)(
    '%s --help prints what it does and exits 0',
    async (name) => {
      const { code, stdout, stderr } = await command(name, ['--help'], { DATABASE_URL: 'nonsense' });
      expect(stderr).toBe('');
      expect(code).toBe(0);
      expect(stdout).toMatch(/^[A-Z].*\n\n {2}npm (?:run|start)/s);
      expect(stdout.split('\n').every((line) => line.length <= 120)).toBe(true);
      expect(stdout).toMatch(/^ {2}--version +\w.*\n$/m);
    },
    LIMIT_MS,
  );

  it.concurrent.each(COMMANDS)(
    '%s --version prints the version alone and exits 0',
    async (name) => {
      const ended = await command(name, ['--version'], { DATABASE_URL: 'nonsense' });
      expect(ended).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
    },
    LIMIT_MS,
  );

  it.concurrent('-h is the same', async () => {
    expect((await command('keys', ['-h'])).stdout).toBe((await command('keys', ['--help'])).stdout);
  });
});

describe('commands › a wrong word or value', () => {
  it.concurrent.each(CALLS)(
    '$call: one line, exit code 2',
    async ({ call, line, env }) => {
      const [name = '', ...args] = call.split(' ');
      const ended = await command(name, args, env);
      expectFailure(ended, 2, line);
      expect(ended.stdout + ended.stderr).not.toContain('S3cret');
    },
    LIMIT_MS,
  );
});
