import { setTimeout as delay } from 'node:timers/promises';
import { readFootprint } from './load.ts';
import type { TestProcess } from './process.ts';

const COLLECT = `
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => collect());`;

/** NODE_OPTIONS with which a process collects its garbage when it is told to; V8 alone does so when it likes. */
export const COLLECTING = `--import=data:text/javascript,${encodeURIComponent(COLLECT)}`;

/** A process that does not shrink within this time, in ms, has grown. */
const SHRINKS_WITHIN_MS = 10_000;

/** What a process with COLLECTING holds without its garbage: soon enough it must satisfy `holds`. */
export async function readCollected(
  { child, url }: TestProcess & { url: string },
  holds: (now: Awaited<ReturnType<typeof readFootprint>>) => boolean = () => true,
) {
  for (const startedAt = performance.now(); ; ) {
    child.kill('SIGUSR2');
    await delay(200);
    const now = await readFootprint(url);
    if (holds(now) || performance.now() - startedAt > SHRINKS_WITHIN_MS) return now;
  }
}
