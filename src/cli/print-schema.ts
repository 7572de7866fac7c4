import { writeFile } from 'node:fs/promises';
import { createSchema, printedSchema } from '../gateway/schema/schema.ts';
import { PETSTORE } from '../petstore/petstore.ts';
import { runCommand } from './command.ts';

const HELP = `Writes schema.graphql from the code.

  npm run schema`;

await runCommand({
  help: HELP,
  options: {},
  async run() {
    // npm sets the working folder to the folder of package.json.
    await writeFile('schema.graphql', printedSchema(createSchema(PETSTORE)));
    console.log('schema.graphql is written.');
  },
});
