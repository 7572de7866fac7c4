import { defineConfig } from 'vitest/config';

// graphql has a development build of its own: test and service must share one, and Node takes this one. No 'import'
// here: it would reach require(), too, and mysql2 would get `long` in a form that it cannot use.
const ssr = { resolve: { conditions: ['module-sync', 'node'] } };

const common = {
  // The service runs as its users run it: by Node itself, without a transformation.
  server: { deps: { external: [/\/src\//] } },
  setupFiles: ['test/support/setup.ts'],
  // What asserts nothing holds nothing.
  expect: { requireAssertions: true },
  testTimeout: 60_000,
  hookTimeout: 90_000,
};

// They run programs: commands, servers, proxies, clients.
const PROGRAMS = [
  'test/{cli,migrations}/**/*.test.ts',
  'test/docs/{clients,deploy}.test.ts',
  'test/keys/{commands,rate-limit,revoke}.test.ts',
  'test/process/{failing-start,first-start,secrets,starting-together,wrong-address}.test.ts',
];

// Most of their time these wait for servers and processes.
const WAITING = [
  'test/process/{blocked-output,connection-limit,database-refuses,idle-and-slow,kill,last-resort,lone-process}.test.ts',
  'test/process/{stop,supervision,workers}.test.ts',
  'test/faults/{impostor,network,silence,trust,writable-host}.test.ts',
];

// Pages in a browser.
const BROWSER = ['test/browser/**/*.test.ts'];

// These load a service, or servers of a cluster, so nothing runs beside them.
const LOADED = ['test/{process,faults}/**/*.test.ts'];

// A database handed in by address may be the only one that its account can use: one file at a time, unless told otherwise.
const MOST = Number(process.env.TEST_WORKERS ?? (process.env.TEST_MYSQL_URL === undefined ? 3 : 1));

/** Test files that begin when those of a smaller order have ended. */
const group = (groupOrder: number, workers: number, name: string, include: string[], exclude: string[] = []) => ({
  ssr,
  test: { ...common, name, include, exclude, maxWorkers: Math.min(workers, MOST), sequence: { groupOrder } },
});

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // For test.concurrent, which is for those that wait for silence.
    maxConcurrency: 20,
    projects: [
      // What one process can do by itself.
      group(1, 3, 'fast', ['test/**/*.test.ts'], [...PROGRAMS, ...WAITING, ...BROWSER, ...LOADED]),
      group(1, 3, 'programs', PROGRAMS),
      group(2, 3, 'waiting', WAITING),
      group(3, 2, 'browser', BROWSER),
      group(4, 1, 'loaded', LOADED, [...PROGRAMS, ...WAITING]),
    ],
  },
});
