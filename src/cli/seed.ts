import { setImmediate as nextTurn } from 'node:timers/promises';
import { onSignal, UsageError } from '../gateway/command-line.ts';
import { createStores } from '../gateway/store/store.ts';
import { PETS, samplePet } from '../petstore/pets/pet.ts';
import { runCommand, withDatabase } from './command.ts';

const HELP = `Adds sample animals, to try things out or to measure.

  npm run seed -- --pets N     N animals, 1 to 100000000

Each run adds N more. Ctrl+C ends it between two batches: what was reported is there.`;

/** Animals in one statement: its length stays far below every server's packet limit. */
const BATCH = 1000;

const BAR_WIDTH = 20;
const REDRAW_MS = 100;
const LINE_MS = 5000;

await runCommand({
  help: HELP,
  options: { pets: { type: 'string' } },
  async run({ values, config }) {
    const total = /^[1-9]\d{0,8}$/.test(values.pets ?? '') ? Number(values.pets) : Number.NaN;
    if (!(total <= 100_000_000)) throw new UsageError('--pets must be a whole number from 1 to 100000000.');
    let interrupted = false;
    onSignal('SIGINT', () => {
      if (interrupted) process.exit(130); // a database that does not go on
      interrupted = true;
    });
    await withDatabase(config, async (database) => {
      const pets = createStores(database)(PETS);
      const progress = createProgress(total);
      let done = 0;
      while (done < total && !interrupted) {
        const size = Math.min(BATCH, total - done);
        const first = done;
        await pets.addAll(Array.from({ length: size }, (_, index) => samplePet(first + index)));
        done += size;
        progress.report(done);
        await nextTurn(); // SQLite never waits for I/O here: without a pause, no signal would be handled
      }
      progress.end(done);
    });
    if (interrupted) process.exitCode = 130;
  },
});

/**
 * Gives functions that print how many of `total` animals are added: a bar on a terminal, elsewhere a line every 5 s.
 */
function createProgress(total: number) {
  const { stdout } = process;
  const startedAt = performance.now();
  let reportedAt = startedAt;
  const format = (count: number) => count.toLocaleString('en');
  const secondsPassed = () => (performance.now() - startedAt) / 1000;
  return {
    report(done: number): void {
      if (performance.now() - reportedAt < (stdout.isTTY ? REDRAW_MS : LINE_MS)) return;
      reportedAt = performance.now();
      const rate = done / secondsPassed();
      const leftS = Math.ceil((total - done) / rate);
      const text = `${format(done)} of ${format(total)} animals, ${format(Math.round(rate))}/s, ${leftS} s left`;
      const bar = '#'.repeat((BAR_WIDTH * done) / total).padEnd(BAR_WIDTH);
      // The last column stays free: a redraw cannot erase a bar that the terminal has wrapped.
      const line = `[${bar}] ${text}`.slice(0, (stdout.columns || 80) - 1);
      stdout.write(stdout.isTTY ? `\r${line}\u001B[K` : `${text}\n`);
    },
    end(done: number): void {
      const start = stdout.isTTY ? '\r\u001B[K' : '';
      stdout.write(`${start}${format(done)} animals added in ${secondsPassed().toFixed(1)} s.\n`);
    },
  };
}
