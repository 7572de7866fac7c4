import { defineConfig } from 'vitest/config';

// graphql has a development build of its own: test and service must share one, and Node takes this one. No 'import'
// here: it would reach require(), too, and mysql2 would get `long` in a form that it cannot use.
const ssr = { resolve: { conditions: ['module-sync', 'node'] } };

// They run programs, or database servers of their own: commands, gateways, compilers, the checks.
const PROGRAMS = [
  'test/checks.test.ts',
  'test/cli/**/*.test.ts',
  'test/docs/{clients,deploy}.test.ts',
  'test/keys/{commands,rate-limit,revoke}.test.ts',
  'test/migrations/server-defaults.test.ts',
  'test/process/{failing-start,first-start,kill,lone-process,secrets,stop,wrong-address}.test.ts',
  'test/rest/typed-client.test.ts',
  'test/store/session.test.ts',
];

// Pages in a browser, clusters, faults, floods, workers, and whatever else takes long: `npm run test:slow`.
const SLOW = [
  'test/browser/{accessibility,every-page,graphiql,landing,reference}.test.ts',
  'test/faults/**/*.test.ts',
  'test/migrations/cut.test.ts',
  'test/rest/creates-under-stress.test.ts',
  'test/process/**/*.test.ts',
];

// More than cores, because most files wait now and then. A database handed in by address may be the only one that its
// account can use: one file at a time, unless told otherwise.
const maxWorkers = Number(process.env.TEST_WORKERS ?? (process.env.TEST_MYSQL_URL === undefined ? 4 : 1));

const common = {
  // The service runs as its users run it: by Node itself, without a transformation.
  server: { deps: { external: [/\/src\//] } },
  setupFiles: ['test/support/setup.ts'],
  // What asserts nothing holds nothing.
  expect: { requireAssertions: true },
  testTimeout: 60_000,
  hookTimeout: 90_000,
  maxWorkers,
};

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // For test.concurrent, which is for those that wait.
    maxConcurrency: 20,
    // They begin in the order of their names: what takes longest is not left for the end.
    projects: [
      // What one process can do by itself: no module of src has a state, so files share a process.
      {
        ssr,
        test: {
          ...common,
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...PROGRAMS, ...SLOW],
          isolate: false,
        },
      },
      { ssr, test: { ...common, name: 'programs', include: PROGRAMS } },
      { ssr, test: { ...common, name: 'slow', include: SLOW, exclude: PROGRAMS } },
    ],
  },
});
