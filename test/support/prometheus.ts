import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endAfterFile, readOutput } from './child.ts';
import { temporaryFolder } from './engines.ts';
import { eventually } from './load.ts';
import { freePort } from './ports.ts';
import { ROOT } from './tracked-files.ts';

/** A Prometheus that watches. */
export type TestPrometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** The path of a file of `deploy/`. */
export const deployed = (name: string) => join(ROOT, 'deploy', name);

/** The expression of every query of the dashboard, by the title of its panel; `range` is the time that it shows. */
export function dashboardQueries(range: string): readonly (readonly [title: string, expression: string])[] {
  const { panels } = JSON.parse(readFileSync(join(ROOT, 'docs/grafana-dashboard.json'), 'utf8'));
  return panels.flatMap(({ title, targets }: { title: string; targets: { expr: string }[] }) =>
    targets.map(({ expr }) => [title, expr.replaceAll('$__range', range)]),
  );
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000 };

/** Makes time go so many times faster in what `deploy/` says to Prometheus. */
function hasten(text: string, times: number): string {
  return text.replaceAll(
    /(?<=\[|for: |interval: )(\d+)([sm])\b/g,
    (_, count, unit) => `${Math.round((count * (UNITS_MS[unit] ?? Number.NaN)) / times)}ms`,
  );
}

/**
 * Starts Prometheus with prometheus.yml and alerts.yml of `deploy/`, so many times faster, for the gateway at `target`; it
 * ends after the test file.
 */
export async function startPrometheus(target: string, times: number) {
  const folder = temporaryFolder();
  const take = (name: string) => hasten(readFileSync(deployed(name), 'utf8'), times);
  const config = take('prometheus.yml').replace('127.0.0.1:4000', target);
  writeFileSync(join(folder, 'prometheus.yml'), `${hasten('global:\n  evaluation_interval: 15s', times)}\n${config}`);
  writeFileSync(join(folder, 'alerts.yml'), take('alerts.yml'));
  const address = `127.0.0.1:${await freePort()}`;
  const words = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
  ];
  const child = spawn('prometheus', words, { stdio: ['ignore', 'ignore', 'pipe'] });
  const said = readOutput(child, child.stderr, endAfterFile(child)).text;
  const answers = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(async () => child.exitCode !== null || (await answers()), 60_000, 'Prometheus is ready');
  const ask = async (path: string) => {
    if (child.exitCode !== null) throw new Error(said());
    const { data, error } = await (await fetch(`http://${address}/api/v1/${path}`)).json();
    if (error !== undefined) throw new Error(`${path}: ${error}`);
    return data;
  };
  return {
    /** The series that a query gives: their labels and values. */
    async query(expression: string) {
      const { result } = await ask(`query?query=${encodeURIComponent(expression)}`);
      const series: { metric: Record<string, string>; value: [number, string] }[] = result;
      return series.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    },
    /** The names of the alerts that fire, sorted. */
    async firing(): Promise<readonly string[]> {
      const { alerts } = await ask('alerts');
      const names = alerts.flatMap(({ state, labels }: { state: string; labels: Record<string, string> }) =>
        state === 'firing' ? labels.alertname : [],
      );
      return names.sort();
    },
  };
}
