import { defineConfig } from 'vitest/config';
// An old Node is told once, here: no test would begin to say it.
import './src/cli/preload.cjs';

// graphql has a development build of its own: test and service must share one, and Node takes this one. No 'import'
// here: it would reach require(), too, and mysql2 would get `long` in a form that it cannot use.
const ssr = { resolve: { conditions: ['module-sync', 'node'] } };

// They start programs, or database servers of their own: commands, gateways, compilers, what makes GraphiQL's bundle. Or
// they take longer than `npm run test:fast` should.
const PROGRAMS = [
  'test/{checks,ci-results,git,left-out}.test.ts',
  'test/backup/**/*.test.ts',
  'test/browser/{page-links,pages}.test.ts',
  'test/cli/**/*.test.ts',
  'test/docs/{clients,deploy,guides}.test.ts',
  'test/http/{metric-labels,pipelined-requests}.test.ts',
  'test/keys/{admission,commands,rate-limit,revoke,usage}.test.ts',
  'test/lib/readme-examples.test.ts',
  'test/lib/mysql-pool/impostor.test.ts',
  'test/lib/ordered-http/request-order.test.ts',
  'test/machine/{closed,two-services}.test.ts',
  'test/migrations/{earlier-store,server-defaults}.test.ts',
  'test/process/{failing-start,first-start,foreign-primary,kill,replaced-files,secrets,stop,waiting}.test.ts',
  'test/rest/{bundle-again,idempotency-races,moved-file,python-client,raw-http}.test.ts',
  'test/store/{session,statements}.test.ts',
];

// The longest of `npm run test:slow`, which begin first.
const LONG = [
  'test/browser/{accessibility,examples,graphiql}.test.ts',
  'test/faults/{database-away,galera,group}.test.ts',
  'test/process/{container,database-refuses,floods,prometheus,small-heap,soak,starting-together,supervision}.test.ts',
];

// Pages in a browser, faults, floods, workers, and what else takes long.
const SLOW = [
  'test/browser/**/*.test.ts',
  'test/drills/**/*.test.ts',
  'test/faults/**/*.test.ts',
  'test/migrations/cut.test.ts',
  'test/process/**/*.test.ts',
  'test/proxies/**/*.test.ts',
  'test/rest/creates-under-stress.test.ts',
];

// docker-compose.yml, which needs Docker or what stands in for it: `npm run test:compose`.
const COMPOSE = ['test/compose/*.test.ts'];

// More than cores, because most files wait now and then. A database handed in by address may be the only one that its
// account can use: one file at a time, unless told otherwise.
const maxWorkers = Number(process.env.TEST_WORKERS ?? (process.env.TEST_MYSQL_URL === undefined ? 4 : 1));

const project = (name: string, include: string[], exclude: string[] = [], isolate = true) => ({
  ssr,
  test: {
    name,
    include,
    exclude,
    isolate,
    maxWorkers,
    // The service runs as its users run it: by Node itself, without a transformation.
    server: { deps: { external: [/\/src\//] } },
    setupFiles: ['test/support/setup.ts'],
    // What asserts nothing holds nothing.
    // And none asserts a moment: what is polled for may take its time.
    expect: { requireAssertions: true, poll: { timeout: 30_000 } },
    // A machine with other work takes its time.
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // For test.concurrent, which is for those that wait.
    maxConcurrency: 20,
    // Their files begin in the order of these names: what takes long is not left for the end.
    projects: [
      project('long', LONG),
      project('programs', PROGRAMS),
      // What one process can do by itself. No module of src has a state, so these files share processes.
      project('quick', ['test/**/*.test.ts'], [...PROGRAMS, ...SLOW, ...COMPOSE], false),
      project('slow', SLOW, [...PROGRAMS, ...LONG]),
      project('compose', COMPOSE),
    ],
  },
});
