import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { UsageError } from './call.ts';
import { gatewayEnvironment } from './environment.ts';

/** The folder of the gateway. */
export const ROOT = join(import.meta.dirname, '..');

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10;
/** statfs(2). */
const TMPFS = 0x01021994;

const children = new Set<ChildProcess>();
const folders = new Set<string>();

// Whatever ends the benchmark, nothing of it stays behind.
process.on('exit', () => {
  for (const child of children) kill(child, 'SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
// At once: servers that still run would keep this process.
process.on('uncaughtException', (error) => {
  console.error(error instanceof UsageError ? error.message : error);
  process.exit(error instanceof UsageError ? 2 : 1);
});

let isPinned = false;

/**
 * Leaves the first core to the server under test: binds this process to the second one, and with it all that it
 * starts without naming cores. False when the machine cannot.
 */
export function leaveFirstCore(): boolean {
  const { status } = spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', '1', String(process.pid)]);
  isPinned = status === 0;
  return isPinned;
}

/** Whether `leaveFirstCore` did so. */
export const isFirstCoreLeft = (): boolean => isPinned;

/** The comparisons' packages are the benchmark's own: installed when they are first needed, and after a change of the lockfile. */
export function installComparisons(): void {
  const folder = import.meta.dirname;
  const lockfile = statSync(join(folder, 'package-lock.json'));
  const installed = join(folder, 'node_modules/.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= lockfile.mtimeMs) return;
  console.error('Installing the comparisons …');
  const { status } = spawnSync('npm', ['ci', '--silent'], { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('npm ci in bench/ failed.');
}

/** Starts a program, on `cores` (`0`, `0,1`) where processes are bound to them, in a process group of its own; it ends with the benchmark. */
export function start(command: readonly string[], options: SpawnOptions & { cores?: string }): ChildProcess {
  const { cores, ...rest } = options;
  const [program = '', ...words] =
    isPinned && cores !== undefined ? ['taskset', '--cpu-list', cores, ...command] : command;
  const child = spawn(program, words, { detached: true, ...rest });
  children.add(child);
  child.on('error', () => {}); // `exitCode` and `pid` say it too
  child.on('exit', () => children.delete(child));
  return child;
}

/** Ends a program and all that it started, kindly at first. */
export async function stop(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  kill(child, 'SIGTERM');
  for (let waitedMs = 0; isRunning(child) && waitedMs < 15_000; waitedMs += 10) await delay(10);
  kill(child, 'SIGKILL');
}

export function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}

/** A folder that goes with the benchmark. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  folders.add(folder);
  return folder;
}

/** `engine`, with a remark where the data that it has in a temporary folder are on no disk. */
export function inTemporaryFolder(engine: string): string {
  const isInMemory = statfsSync(tmpdir()).type === TMPFS;
  return isInMemory ? `${engine} (its data are in memory: a commit flushes nothing)` : engine;
}

/** A TCP port that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** CPU time that a process has used, in ms. */
export function cpuMs(pid: number): number {
  // proc(5): the name in parentheses may hold spaces; utime and stime are the 12th and 13th field behind it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** CPU time that the threads of a process have used, in ms, without the steps of `cpuMs`; of those that have not ended. */
export function threadsCpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ns = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
  );
  return ns.reduce((sum, one) => sum + one, 0) / 1e6;
}

/** CPU time that a process and all that it has started in its group have used, in ms; of those that have not ended. */
export function groupCpuMs(pid: number): number {
  const members = readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) && readFileSync(`/proc/${name}/stat`, 'latin1').split(') ')[1]?.split(' ')[2] === `${pid}`
      );
    } catch {
      return false; // it has ended
    }
  });
  return members.reduce((sum, name) => sum + cpuMs(Number(name)), 0);
}

/** CPU time that all programs of the machine have used, in ms. */
export function machineCpuMs(): number {
  // proc(5): after `cpu`, user, nice, system, idle, iowait, irq, softirq. Loopback traffic is softirq, which the
  // times of the processes include.
  const [, user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'latin1').split(/\s+/, 8).map(Number);
  return [user, nice, system, irq, softirq].reduce<number>((sum, ticks = 0) => sum + ticks, 0) * TICK_MS;
}

/** The most memory that a process ever held, in MiB. */
export function peakMemoryMiB(pid: number): number {
  return readMemoryMiB(pid, /VmHWM:\s+(\d+) kB/);
}

/** The memory that a process holds, in MiB. */
export function memoryMiB(pid: number): number {
  return readMemoryMiB(pid, /VmRSS:\s+(\d+) kB/);
}

function readMemoryMiB(pid: number, line: RegExp): number {
  const [, kib = Number.NaN] = line.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kib) / 1024;
}

/** Runs one of the own commands of the gateway in `root` to its end; gives the last line that it printed. */
export function runCommand(script: string, words: readonly string[], databaseUrl: string, root = ROOT): string {
  const env = gatewayEnvironment({ DATABASE_URL: databaseUrl });
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, script), ...words], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${script} ${words.join(' ')}: ${stderr}`);
  return stdout.trimEnd().split('\n').at(-1) ?? '';
}
