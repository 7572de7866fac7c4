import { setTimeout as delay } from 'node:timers/promises';
import { runCommand } from '../../src/cli/command.ts';

// A command that tells twice what it does, as a long one does.
await runCommand({
  help: '',
  options: {},
  async run() {
    process.stdout.write('begun\n');
    await delay(50);
    process.stdout.write('done\n');
  },
});
