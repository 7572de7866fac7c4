import { describeUnknown } from '../dot-env.ts';
import { type CommandInput, printTable, runCommand } from './command.ts';
import { describeSettings } from './described-settings.ts';
import { examineDatabase, readLimits } from './examination.ts';

const HELP = `One page: is everything as it should be? Changes and creates nothing.

  npm run doctor [-- --json]

Shows the configuration (secrets masked), unknown names in .env, whether the
database answers and takes writes, its version, the migrations, the schema,
the number of API keys and the limits.

  --json      for programs

Exit code 1 when something is wrong.`;

const OPTIONS = { json: { type: 'boolean' } } as const;

await runCommand({
  help: HELP,
  options: OPTIONS,
  async run(input) {
    const examination = await examine(input);
    if (input.values.json) console.log(JSON.stringify(examination, null, 2));
    else printPage(examination);
    if (!examination.well) process.exitCode = 1;
  },
});

async function examine({ config, unknownNames }: CommandInput<typeof OPTIONS>) {
  const { facts, problems: found } = await examineDatabase(config);
  // A name far from every setting is another program's: Compose reads the same file.
  const problems = [...unknownNames.filter(({ meant }) => meant !== undefined).map(describeUnknown), ...found];
  return {
    well: problems.length === 0,
    problems,
    configuration: describeSettings(config),
    unknownNames,
    database: facts,
    limits: readLimits(config),
  };
}

function printPage({ configuration, unknownNames, database, limits, problems }: Awaited<ReturnType<typeof examine>>) {
  printSection(
    'Configuration',
    configuration.map(({ name, value, isDefault }) => [
      name,
      value === undefined ? 'not set' : `${value}${isDefault ? ' (default)' : ''}`,
    ]),
  );
  if (unknownNames.length > 0) {
    const others = unknownNames.map(({ name, meant }) => [name, meant ? `did you mean ${meant}?` : 'no setting']);
    printSection('Unknown names in .env', others);
  }
  printSection('Database', Object.entries(database));
  printSection('Limits', Object.entries(limits));
  for (const problem of problems) console.log(`WRONG: ${problem}`);
  if (problems.length === 0) console.log('All is well.');
}

function printSection(title: string, rows: readonly (readonly string[])[]): void {
  console.log(title);
  printTable(rows.map(([label = '', ...cells]) => [`  ${label}`, ...cells]));
  console.log('');
}
