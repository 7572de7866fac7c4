/*
 * GraphQL documents of other shapes: node bench/shapes.ts [--rounds N] [--seconds N] writes SHAPES.md (about four minutes). The
 * gateway beside mercurius with its just-in-time compiler, at 32 connections.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CONTENDERS } from './contenders.ts';
import { startDatabase } from './database.ts';
import { type Dialect, graphql } from './dialects.ts';
import { measureAll } from './measure.ts';
import type { Question } from './pets.ts';
import { dateAndCommit, leaveFirstCore } from './processes.ts';
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
    dialect: listShape((question) => ({
      line: 'POST /graphql',
      body: {
        query: `query Two${HEAD}) { pets${PAGE} ${FIELDS} pet(id: "1") ${FIELDS} }`,
        variables: variables(question),
      },
    })),
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

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '2' } },
});
leaveFirstCore();
const database = await startDatabase();
const rows: string[][] = [];
for (const { title, workload, dialect, goal } of SHAPES) {
  const options = {
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    warmUpSeconds: 2,
    workloads: [workload],
    contenders: ['gateway', 'mercurius'],
    apis: ['graphql'],
    concurrencies: [32],
  } as const;
  const contenders = CONTENDERS.map((contender) => ({ ...contender, apis: { graphql: dialect } }));
  const measurements = await measureAll(options, database, (line) => console.error(`${title}: ${line}`), contenders);
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
  `Made by \`node bench/shapes.ts\` on ${dateAndCommit()}: 32 connections; medians of ${values.rounds} alternating rounds with freshly started processes.`,
  table(['document', 'requests/s', 'mercurius', 'ratio', 'goal'], rows),
]
  .join('\n\n')
  .concat('\n');
process.stdout.write(report);
writeFileSync(join(import.meta.dirname, 'SHAPES.md'), report);
await database.close();
process.exit(0);
