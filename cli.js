import './src/cli/preload.cjs';

// node cli.js keys create --name NAME: a command, as npm run has it, by a Node without npm.
const FILES = {
  deprecations: 'deprecation-report',
  doctor: 'doctor',
  keys: 'keys',
  migrate: 'migrate',
  schema: 'print-schema',
  seed: 'seed',
};
const [command = ''] = process.argv.splice(2, 1);
if (!Object.hasOwn(FILES, command)) {
  console.error(`Say which command: ${Object.keys(FILES).join(', ')}; each has --help.`);
  process.exit(2);
}
await import(`./src/cli/${FILES[command]}.ts`);
