import { PETSTORE } from './petstore/petstore.ts';
import { start } from './process/start.ts';

await start(PETSTORE);
