import { type ApiName, BASELINES, CONTENDERS } from './contenders.ts';
import { GOALS, type Goal, START_RATIO } from './goals.ts';
import type { Measurement } from './measure.ts';
import type { Options } from './options.ts';
import type { StartTimes } from './startup.ts';
import { type Figure, measurementsOf, median, ratio } from './statistics.ts';
import { table, withSpread } from './tables.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

/** All that a report tells of. */
export interface Results {
  readonly options: Options;
  /** What made it, when and where. */
  readonly head: string;
  readonly measurements: readonly Measurement[];
  readonly startTimes: StartTimes | undefined;
}

const API_TITLES: Readonly<Record<ApiName, string>> = { rest: 'REST', graphql: 'GraphQL' };

/** The results as Markdown. */
export function toMarkdown(results: Results): string {
  const { options, head } = results;
  const sections = options.apis.flatMap((api) =>
    WORKLOADS.map((workload) => workloadTable(results, api, workload)).filter((table) => table !== undefined),
  );
  return [
    '# Benchmark results',
    head,
    `Medians of alternating rounds (${options.rounds}), each with freshly started processes; in parentheses the least and the most. Ratios are medians of the ratios within a round. [README.md](README.md) says how it is measured.`,
    ...foreignLoad(results),
    ...wrongAnswers(results),
    ...goalTable(results),
    ...startTable(results),
    ...sections,
  ]
    .join('\n\n')
    .concat('\n');
}

/** How many answers were wrong in all. */
export function countWrong(measurements: readonly Measurement[]): number {
  return measurements.reduce((sum, one) => sum + one.wrong, 0);
}

/** Throws when an answer was wrong: for a report that does not say so. */
export function refuseWrong(measurements: readonly Measurement[]): void {
  const wrong = countWrong(measurements);
  if (wrong > 0) throw new Error(`${wrong} answers were wrong.`);
}

function foreignLoad({ measurements }: Results): string[] {
  const cores = measurements.map((one) => one.foreignCores);
  if (cores.length === 0) return [];
  const most = Math.max(...cores).toFixed(2);
  return [`Other programs took ${median(cores).toFixed(2)} of a core meanwhile (median; at most ${most}).`];
}

function wrongAnswers({ measurements }: Results): string[] {
  const wrong = countWrong(measurements);
  if (wrong === 0) return ['Every answer had the right status, and every sampled one the right content.'];
  const whose = new Set(measurements.filter((one) => one.wrong > 0).map((one) => `${one.contender} (${one.workload})`));
  return [`**${wrong} answers were wrong**, so the figures of these mean nothing: ${[...whose].join(', ')}.`];
}

function goalTable({ measurements }: Results): string[] {
  const rows = GOALS.map((goal) => ({ goal, value: ratio(measurements, goal.figure, 'gateway', goal.against, goal) }))
    .filter(({ value }) => !Number.isNaN(value))
    .map(({ goal, value }) => {
      const isReached = goal.figure === 'requestsPerSecond' ? value >= goal.ratio : value <= goal.ratio;
      return [goal.title, String(goal.concurrency), wanted(goal), times(value), isReached ? 'yes' : '**no**'];
    });
  if (rows.length === 0) return [];
  return ['## Goals', table(['workload', 'c', 'goal', 'measured', 'reached'], rows)];
}

const wanted = ({ figure, ratio, against }: Goal): string =>
  `${figure === 'requestsPerSecond' ? '≥' : '≤'} ${ratio} × ${against}`;

function startTable({ startTimes }: Results): string[] {
  if (startTimes === undefined) return [];
  const { gateway, byHand } = startTimes;
  const value = median(gateway) / median(byHand);
  const line = (title: string, figures: readonly number[]) => [title, withSpread(figures, 0)];
  const goal = `${times(value)}, goal ≤ ${START_RATIO}: ${value <= START_RATIO ? 'reached' : '**not reached**'}.`;
  return [
    '## Start',
    `\`npm start\` to the first right answer, embedded SQLite, ${gateway.length} starts each in turn: ${goal}`,
    table(['', 'ms'], [line('**this gateway**', gateway), line('Koa + Knex, by hand', byHand)]),
  ];
}

function workloadTable({ options, measurements }: Results, api: ApiName, workload: Workload): string | undefined {
  const rows = options.concurrencies.flatMap((concurrency) => {
    const place = { api, workload: workload.name, concurrency };
    return CONTENDERS.flatMap(({ name, title }) => {
      const own = measurementsOf(measurements, name, place);
      if (own.length === 0) return [];
      const figures = (figure: Figure) => own.map((one) => one[figure]);
      return [
        [
          String(concurrency),
          title,
          withSpread(figures('requestsPerSecond'), 0),
          times(ratio(measurements, 'requestsPerSecond', name, BASELINES[api], place)),
          withSpread(figures('p50Ms'), 2),
          withSpread(figures('p99Ms'), 2),
          median(figures('cpuMs')).toFixed(3),
          `${Math.round(median(figures('busy')) * 100)} %`,
          median(figures('peakMiB')).toFixed(0),
        ],
      ];
    });
  });
  if (rows.length === 0) return undefined;
  const columns = [
    'c',
    'contender',
    'requests/s',
    'ratio',
    'p50 ms',
    'p99 ms',
    'CPU ms/request',
    'core busy',
    'peak MiB',
  ];
  return `## ${API_TITLES[api]}: ${workload.title}\n\n${table(columns, rows)}`;
}

function times(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(2);
}
