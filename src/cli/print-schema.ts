import { writeFile } from 'node:fs/promises';
import { runProgram } from '../gateway/command-line.ts';
import { createSchema, printedSchema } from '../gateway/schema/schema.ts';
import { PETSTORE } from '../petstore/petstore.ts';

const HELP = `Writes schema.graphql from the code.

  npm run schema`;

await runProgram({
  help: HELP,
  options: {},
  async run() {
    // npm sets the working folder to the folder of package.json.
    await writeFile('schema.graphql', printedSchema(createSchema(PETSTORE)));
    console.log('schema.graphql is written.');
  },
});
