import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { endAfterFile } from '../support/child.ts';
import { afterFile, temporaryFolder } from '../support/engines.ts';
import { eventually, succeeds } from '../support/load.ts';
import { ROOT } from '../support/tracked-files.ts';

const SYSTEMD = '/lib/systemd/systemd';
const STARTS_WITHIN_MS = 60_000;
const NAMESPACES = ['--mount', '--pid', '--uts', '--ipc', '--net', '--cgroup', '--fork', '--kill-child'];

const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : ''; // Linux has it
const [, GROUPS] = /^\S+ (\S+) cgroup2 /m.exec(mounts) ?? [];
const GROUP = `${GROUPS}/petstore-test-${process.pid}`;

/** In a control group of its own, which is the root of what systemd sees. */
const OUTSIDE = `
  mkdir "$GROUP" && echo $$ > "$GROUP/cgroup.procs"
  exec unshare ${NAMESPACES.join(' ')} sh -euc "$INSIDE"`;

/** All that it writes goes into memory; of its own units it starts none. */
const INSIDE = `
  mount --make-rprivate /
  mount -t tmpfs tmpfs "$FOLDER"
  cd "$FOLDER"
  mkdir upper work root
  mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work overlay root
  cd root
  mkdir -p opt/petstore-gateway
  mount --bind "$PROJECT" opt/petstore-gateway
  rm -f usr/bin/node && touch usr/bin/node
  mount --bind "$NODE" usr/bin/node
  rm -rf etc/systemd/system etc/petstore-gateway.env
  mkdir -p etc/systemd/system
  printf '[Unit]\\nWants=dbus.socket\\n' > etc/systemd/system/default.target
  mount -t proc proc proc
  mount -t sysfs sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs tmpfs run
  mount -t tmpfs tmpfs tmp
  mount --rbind /dev dev
  mkdir run/machine
  pivot_root . run/machine
  umount -l /run/machine
  exec env -i container=test PATH="$PATH" ${SYSTEMD} --system --show-status=no`;

/** Whether this machine lets us start one: root, systemd, namespaces, and control groups of version 2. */
export function canBoot(): boolean {
  try {
    execFileSync('unshare', [...NAMESPACES, 'test', '-x', SYSTEMD], { stdio: 'ignore' });
    mkdirSync(GROUP);
    rmdirSync(GROUP);
    return true;
  } catch {
    return false;
  }
}

/** A systemd that is process 1 of namespaces of its own, on a copy of this machine. It ends after the test file. */
export type Machine = Awaited<ReturnType<typeof boot>>;

/** Starts one, with the project in `/opt/petstore-gateway` and no network but loopback. */
export async function boot() {
  const folder = temporaryFolder();
  const { PATH = '' } = process.env;
  const env = { PATH: `${PATH}:/usr/sbin:/sbin`, GROUP, FOLDER: folder, PROJECT: ROOT, NODE: process.execPath, INSIDE };
  const child = spawn('sh', ['-euc', OUTSIDE], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const remove = () => promisify(execFile)('find', [GROUP, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']);
  afterFile(() => eventually(() => remove().then(() => !existsSync(GROUP)), 10_000, 'all processes are gone'));
  void endAfterFile(child); // before that
  const first = () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
  /** Runs a block of a page as the administrator, in the folder of the project; gives the standard output. */
  const run = async (block: string) => {
    const words = ['--target', first(), '--all', 'bash', '-euo', 'pipefail', '-c'];
    const script = `sudo() { "$@"; }; cd /opt/petstore-gateway; ${block}`;
    return (await promisify(execFile)('nsenter', [...words, script])).stdout;
  };
  await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error('systemd did not start');
      return succeeds(run('systemctl is-system-running'));
    },
    STARTS_WITHIN_MS,
    'systemd runs',
  );
  return { run };
}
