import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PETSTORE } from '../petstore/petstore.ts';
import { createSchema, printedSchema } from '../schema/schema.ts';
import { runCommand } from './command.ts';

const HELP = `Writes schema.graphql from the code.

  npm run schema`;

await runCommand({
  help: HELP,
  options: {},
  async run() {
    await writeFile(join(import.meta.dirname, '../../schema.graphql'), printedSchema(createSchema(PETSTORE)));
    console.log('schema.graphql is written.');
  },
});
