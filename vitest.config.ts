import { defineConfig } from 'vitest/config';

// graphql has a development build of its own: test and service must share one, and Node takes this one. No 'import'
// here: it would reach require(), too, and mysql2 would get `long` in a form that it cannot use.
const ssr = { resolve: { conditions: ['module-sync', 'node'] } };

const common = {
  // The service runs as its users run it: by Node itself, without a transformation.
  server: { deps: { external: [/\/src\//] } },
  setupFiles: ['test/support/graphql-js-watch.ts'],
  // What asserts nothing holds nothing.
  expect: { requireAssertions: true },
  testTimeout: 60_000,
  hookTimeout: 90_000,
};

// Most of their time these wait for servers and processes: two at a time, after the others.
const WAITING = [
  'test/process/{database-refuses,kill,last-resort,stop,workers}.test.ts',
  'test/faults/{network,silence,writable-host}.test.ts',
];

// These load a service, or servers of a cluster, and watch the clock, so nothing runs beside them; a start may take what
// time it needs.
const ALONE = [
  'test/process/!(failing-start|first-start|secrets|starting-together).test.ts',
  'test/faults/**/*.test.ts',
];

// A database handed in by address may be the only one that its account can use: one file at a time.
const WORKERS = process.env.TEST_MYSQL_URL === undefined ? 2 : 1;

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // For test.concurrent, which is for those that wait for silence.
    maxConcurrency: 20,
    projects: [
      {
        ssr,
        test: {
          ...common,
          name: 'side by side',
          include: ['test/**/*.test.ts'],
          exclude: ALONE,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 1 },
        },
      },
      { ssr, test: { ...common, name: 'waiting', include: WAITING, maxWorkers: WORKERS, sequence: { groupOrder: 2 } } },
      {
        ssr,
        test: {
          ...common,
          name: 'alone',
          include: ALONE,
          exclude: WAITING,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
