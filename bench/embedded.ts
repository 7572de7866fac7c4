/*
 * The embedded store: node bench/embedded.ts [--rounds N] [--seconds N] writes EMBEDDED.md. The gateway
 * beside hand-written Koa + node:sqlite without log and metrics, each on a file of its own with 100,000 animals; meanwhile
 * `/livez` is asked on one connection.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFlags, readLength, TEXT } from './call.ts';
import { toWireRequest, type WireRequest } from './check.ts';
import { CONTENDERS, type Contender } from './contenders.ts';
import { rest } from './dialects.ts';
import { runLoad } from './load.ts';
import { installComparisons, inTemporaryFolder, leaveFirstCore, temporaryFolder } from './processes.ts';
import { madeBy, writeReport } from './report-file.ts';
import { startServer } from './server.ts';
import { seedFile } from './sqlite-file.ts';
import { median } from './statistics.ts';
import { table, withSpread } from './tables.ts';
import { QUESTIONS_COUNT, WORKLOADS } from './workloads.ts';

const CONCURRENCY = 32;
/** The least ratio that the gateway wants. */
const GOALS: Readonly<Record<string, number>> = { 'list-20': 0.9, get: 0.9, create: 3 };
const LIVEZ_P99_MS = 50;
const WARM_UP_SECONDS = 3;

const { rounds, seconds, isLong } = readLength(readFlags({ rounds: TEXT, seconds: TEXT }), { seconds: 3 });
const byHand: Contender = {
  name: 'koa-sqlite',
  title: 'Koa + node:sqlite, by hand',
  script: 'bench/contenders/koa-sqlite.ts',
  apis: { rest },
};

interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly livezP99Ms: number;
}

installComparisons();
leaveFirstCore();
const folder = temporaryFolder();
const original = join(folder, 'original.sqlite');
const key = seedFile(original);
const figures = new Map<string, Figures[]>();
for (let round = 0; round < rounds; round++) {
  for (const workload of WORKLOADS.filter(({ name }) => name in GOALS)) {
    const gateway = CONTENDERS.find(({ name }) => name === 'gateway');
    const both = gateway ? [gateway, byHand] : [];
    for (const contender of round % 2 === 0 ? both : both.toReversed()) {
      const requests = Array.from({ length: QUESTIONS_COUNT }, (_, index) =>
        toWireRequest(workload.question(index), rest, key),
      );
      const name = `${workload.name} ${contender.name}`;
      const found = await measure(contender, requests);
      console.error(`${name}: ${Math.round(found.perSecond)}/s, /livez p99 ${found.livezP99Ms.toFixed(1)} ms`);
      figures.set(name, [...(figures.get(name) ?? []), found]);
    }
  }
}
writeReport('EMBEDDED.md', toMarkdown(), isLong);
process.exit(0);

async function measure(contender: Contender, requests: readonly WireRequest[]): Promise<Figures> {
  const path = join(folder, `${contender.name}-${performance.now()}.sqlite`);
  copyFileSync(original, path);
  const server = await startServer(contender, `sqlite:${path}`, toWireRequest({ kind: 'get', id: 1 }, rest, key));
  try {
    await runLoad(server.port, requests, CONCURRENCY, WARM_UP_SECONDS);
    const probing = contender.name === 'gateway' ? probe(server.port, seconds * 1000) : undefined;
    const load = await runLoad(server.port, requests, CONCURRENCY, seconds);
    if (load.wrong > 0) throw new Error(`${contender.name}: ${load.firstWrong}`);
    const p50Ms = median([...load.latencies]);
    return { perSecond: load.count / load.seconds, p50Ms, livezP99Ms: (await probing) ?? Number.NaN };
  } finally {
    await server.stop();
  }
}

/** The p99 of `/livez` in ms, asked again and again for `ms`. */
async function probe(port: number, ms: number): Promise<number> {
  const latencies: number[] = [];
  for (const endsAt = performance.now() + ms; performance.now() < endsAt; ) {
    const sentAt = performance.now();
    const response = await fetch(`http://127.0.0.1:${port}/livez`);
    await response.arrayBuffer();
    latencies.push(performance.now() - sentAt);
  }
  return latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
}

function toMarkdown(): string {
  const rows = Object.entries(GOALS).map(([workload, goal]) => {
    const [ours, theirs] = ['gateway', 'koa-sqlite'].map((name) => figures.get(`${workload} ${name}`) ?? []);
    const perSecond = (of: readonly Figures[] = []) => of.map((one) => one.perSecond);
    const ratio = median(perSecond(ours).map((value, round) => value / (theirs?.[round]?.perSecond ?? Number.NaN)));
    const livez = (ours ?? []).map((one) => one.livezP99Ms);
    return [
      workload,
      withSpread(perSecond(ours), 0),
      withSpread(perSecond(theirs), 0),
      ratio.toFixed(2),
      `≥ ${goal}${ratio >= goal ? '' : ' **not reached**'}`,
      `${withSpread(livez, 1)}${median(livez) <= LIVEZ_P99_MS ? '' : ' **not reached**'}`,
    ];
  });
  const columns = [
    'workload',
    'requests/s',
    'Koa + node:sqlite',
    'ratio',
    'goal',
    `/livez p99 ms, goal ≤ ${LIVEZ_P99_MS}`,
  ];
  return [
    '# The embedded store',
    madeBy(`${inTemporaryFolder(`SQLite ${process.versions.sqlite}`)}, 100,000 animals`),
    `${CONCURRENCY} connections over REST, every create flushed before its 201; medians of ${rounds} alternating rounds with fresh processes and files.`,
    table(columns, rows),
  ]
    .join('\n\n')
    .concat('\n');
}
