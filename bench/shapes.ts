/*
 * GraphQL documents of other shapes: node bench/shapes.ts [--rounds N] [--seconds N] writes SHAPES.md. The gateway beside mercurius
 * with its just-in-time compiler, at 32 connections.
 */
import { deepStrictEqual } from 'node:assert';
import { readFlags, readLength, TEXT } from './call.ts';
import { CONTENDERS } from './contenders.ts';
import { startDatabase } from './database.ts';
import { type Dialect, graphql } from './dialects.ts';
import { measureAll } from './measure.ts';
import { type Question, seededPet } from './pets.ts';
import { installComparisons, leaveFirstCore } from './processes.ts';
import { refuseWrong } from './report.ts';
import { madeBy, writeReport } from './report-file.ts';
import { measurementsOf, ratio } from './statistics.ts';
import { table, withSpread } from './tables.ts';

const FIELDS = '{ id name categoryId status }';

interface Shape {
  readonly title: string;
  readonly workload: string;
  readonly dialect: Dialect;
  /** The least ratio to mercurius that the gateway wants. */
  readonly goal: number;
}

/** A document for lists; a single animal is asked for as always: it is the probe of a start. */
function listShape(request: (question: Question & { kind: 'list' }) => ReturnType<Dialect['request']>): Dialect {
  return {
    ...graphql,
    request: (question) => (question.kind === 'list' ? request(question) : graphql.request(question)),
  };
}

/** A list whose answer has the first animal, too. */
function withFirstPet(dialect: Dialect): Dialect {
  return {
    ...dialect,
    read(body, question) {
      // What throws is a wrong answer.
      if (question.kind === 'list') deepStrictEqual(graphql.read(body, { kind: 'get', id: 1 }), [seededPet(1)]);
      return dialect.read(body, question);
    },
  };
}

const variables = ({ status, limit, after }: Question & { kind: 'list' }) => ({
  status: status.toUpperCase(),
  limit,
  after: String(after),
});
const HEAD = '($status: PetStatus, $limit: Int!, $after: ID';
const PAGE = '(status: $status, limit: $limit, after: $after)';

const SHAPES: readonly Shape[] = [
  {
    title: 'two root fields',
    workload: 'list-20',
    goal: 1.25,
    dialect: withFirstPet(
      listShape((question) => ({
        line: 'POST /graphql',
        body: {
          query: `query Two${HEAD}) { pets${PAGE} ${FIELDS} pet(id: "1") ${FIELDS} }`,
          variables: variables(question),
        },
      })),
    ),
  },
  {
    title: '@include',
    workload: 'list-20',
    goal: 1.25,
    dialect: listShape((question) => ({
      line: 'POST /graphql',
      body: {
        query: `query Some${HEAD}, $all: Boolean!) { pets${PAGE} { id name @include(if: $all) categoryId status } }`,
        variables: { ...variables(question), all: true },
      },
    })),
  },
  {
    title: 'values in the text',
    workload: 'list-20',
    goal: 1,
    dialect: listShape(({ status, limit, after }) => ({
      line: 'POST /graphql',
      body: { query: `{ pets(status: ${status.toUpperCase()}, limit: ${limit}, after: "${after}") ${FIELDS} }` },
    })),
  },
  {
    title: 'GET',
    workload: 'list-20',
    goal: 1.25,
    dialect: listShape((question) => {
      const query = `query Pets${HEAD}) { pets${PAGE} ${FIELDS} }`;
      const words = new URLSearchParams({ query, variables: JSON.stringify(variables(question)) });
      return { line: `GET /graphql?${words}` };
    }),
  },
  { title: 'addPet', workload: 'create', goal: 1.25, dialect: graphql },
];

const { rounds, seconds, isLong } = readLength(readFlags({ rounds: TEXT, seconds: TEXT }), { seconds: 2 });
installComparisons();
leaveFirstCore();
const database = await startDatabase();
const rows: string[][] = [];
for (const { title, workload, dialect, goal } of SHAPES) {
  const options = {
    rounds,
    seconds,
    warmUpSeconds: 2,
    workloads: [workload],
    contenders: ['gateway', 'mercurius'],
    apis: ['graphql'],
    concurrencies: [32],
  } as const;
  const contenders = CONTENDERS.map((contender) => ({ ...contender, apis: { graphql: dialect } }));
  const measurements = await measureAll(options, database, (line) => console.error(`${title}: ${line}`), contenders);
  refuseWrong(measurements);
  const place = { api: 'graphql', workload, concurrency: 32 } as const;
  const perSecond = (name: string) => measurementsOf(measurements, name, place).map((one) => one.requestsPerSecond);
  const value = ratio(measurements, 'requestsPerSecond', 'gateway', 'mercurius', place);
  rows.push([
    title,
    withSpread(perSecond('gateway'), 0),
    withSpread(perSecond('mercurius'), 0),
    value.toFixed(2),
    `≥ ${goal}${value >= goal ? '' : ' **not reached**'}`,
  ]);
}
const report = [
  '# GraphQL documents of other shapes',
  madeBy(`${database.version}, 100,000 animals`),
  `32 connections; medians of ${rounds} alternating rounds with freshly started processes.`,
  table(['document', 'requests/s', 'mercurius', 'ratio', 'goal'], rows),
]
  .join('\n\n')
  .concat('\n');
writeReport('SHAPES.md', report, isLong);
await database.close();
process.exit(0);
