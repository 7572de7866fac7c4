import { execFileSync } from 'node:child_process';
import { accessSync, appendFileSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What some tests need beside Node and Debian's base: whether it is here, and what brings it on Debian. */
const TOOLS = {
  browser: { isHere: () => browserPath() !== undefined, broughtBy: 'apt install chromium, or CHROMIUM with its path' },
  caddy: { isHere: () => isInstalled('caddy'), broughtBy: 'apt install caddy' },
  curl: { isHere: () => isInstalled('curl'), broughtBy: 'apt install curl' },
  database: {
    isHere: () => serverPath() !== undefined,
    broughtBy: 'apt install mariadb-server, or TEST_MYSQLD, or TEST_MYSQL_URL',
  },
  galera: {
    isHere: () => [GALERA, '/usr/sbin/mariadbd', '/usr/bin/rsync'].every((path) => existsSync(path)),
    broughtBy: 'apt install mariadb-server galera-4 rsync',
  },
  git: {
    isHere: () => isInstalled('git') && existsSync(join(import.meta.dirname, '../../.git/HEAD')),
    broughtBy: 'apt install git, and a clone instead of a tarball',
  },
  namespaces: {
    isHere: () => works('unshare', '-rm', 'true'),
    broughtBy: 'a user who may call unshare, and no chroot',
  },
  nginx: { isHere: () => isInstalled('nginx'), broughtBy: 'apt install nginx-light' },
  openssl: { isHere: () => isInstalled('openssl'), broughtBy: 'apt install openssl' },
  prometheus: { isHere: () => isInstalled('promtool'), broughtBy: 'apt install prometheus' },
  python: { isHere: () => works('python3', '-c', 'import requests'), broughtBy: 'apt install python3-requests' },
  systemd: { isHere: () => isInstalled('systemd-analyze'), broughtBy: 'apt install systemd' },
} as const;

/** A name in the list of tools; `TEST_WITHOUT` may name some, separated by commas. */
export type Tool = keyof typeof TOOLS;

/** Where browsers of the Chromium family are installed. */
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** What makes a cluster of MariaDB's servers. */
export const GALERA = '/usr/lib/galera/libgalera_smm.so';

/** The tools that TEST_WITHOUT names; throws where it names anything else, and on CI, which leaves nothing out. */
export function unwantedTools(setting = process.env.TEST_WITHOUT ?? '', isCi = IS_CI): readonly Tool[] {
  const names = setting.split(',').flatMap((name) => name.trim() || []);
  const tools = names.filter((name): name is Tool => Object.hasOwn(TOOLS, name));
  if (tools.length < names.length)
    throw new Error(`TEST_WITHOUT=${setting} is not allowed: it takes ${Object.keys(TOOLS).join(', ')}`);
  if (isCi && tools.length > 0) throw new Error(`TEST_WITHOUT=${setting} is not allowed where CI=true`);
  return tools;
}

const IS_CI = process.env.CI === 'true';

/**
 * Whether tests that need these tools run. What lacks is named at the end of the run, with what brings it; on CI it is an
 * error.
 */
export function has(...tools: readonly Tool[]): boolean {
  return tools.map(isAtHand).every(Boolean);
}

function isAtHand(tool: Tool): boolean {
  if (unwantedTools().includes(tool)) return false;
  const { isHere, broughtBy } = TOOLS[tool];
  if (isHere()) return true;
  if (IS_CI) throw new Error(`CI leaves nothing out, and here is no ${tool}: ${broughtBy}`);
  noteLeftOut(tool, broughtBy);
  return false;
}

/** Has the end of the run say what did not run, and what would bring it. */
export function noteLeftOut(what: string, broughtBy: string): void {
  const file = process.env.TEST_LEFT_OUT; // of the whole run: many processes write it
  if (file !== undefined) appendFileSync(file, `${what}: ${broughtBy}\n`);
}

/** What was noted in this file, each thing once. */
export function readLeftOut(file: string): readonly string[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return [...new Set(text.trimEnd().split('\n'))].filter((line) => line !== '').sort();
}

/** The path of the browser, if there is one. */
export function browserPath(): string | undefined {
  return [process.env.CHROMIUM ?? '', ...BROWSERS].find((path) => existsSync(path));
}

/** The path of the database server that tests start, if there is one. */
export function serverPath(): string | undefined {
  return process.env.TEST_MYSQLD ?? findProgram('mariadbd', 'mysqld');
}

/** The path of a program that is installed. Debian keeps servers in /usr/sbin, which is not on everybody's PATH. */
export function findProgram(...names: readonly string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const isInstalled = (program: string) => findProgram(program) !== undefined;

function works(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
