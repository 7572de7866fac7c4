import { setImmediate as nextTurn } from 'node:timers/promises';
import { UsageError } from '../failure.ts';
import { PETS } from '../petstore/pets/pet.ts';
import { samplePet } from '../petstore/pets/sample-pets.ts';
import { createStores } from '../store/store.ts';
import { runCommand, withDatabase } from './command.ts';
import { createProgress } from './progress.ts';

const HELP = `Adds sample animals, to try things out or to measure.

  npm run seed -- --pets N     N animals, 1 to 100000000

Each run adds N more. Ctrl+C ends it between two batches: what was reported is there.`;

/** Animals in one statement: a statement of it stays far below every server's packet limit. */
const BATCH = 1000;

await runCommand({
  help: HELP,
  options: { pets: { type: 'string' } },
  async run({ values, config }) {
    const total = /^[1-9]\d{0,8}$/.test(values.pets ?? '') ? Number(values.pets) : Number.NaN;
    if (!(total <= 100_000_000)) throw new UsageError('--pets must be a whole number from 1 to 100000000.');
    let interrupted = false;
    process.once('SIGINT', () => {
      interrupted = true;
    });
    await withDatabase(config, async (database) => {
      const pets = createStores(database)(PETS);
      const progress = createProgress(total, 'animals');
      let done = 0;
      while (done < total && !interrupted) {
        const size = Math.min(BATCH, total - done);
        const first = done;
        await pets.addAll(Array.from({ length: size }, (_, index) => samplePet(first + index)));
        done += size;
        progress.report(done);
        await nextTurn(); // SQLite answers at once: without a pause, no signal would ever be heard
      }
      progress.end(done);
    });
    if (interrupted) process.exitCode = 130;
  },
});
