import { start } from './gateway/process/start.ts';
import { PETSTORE } from './petstore/petstore.ts';

await start(PETSTORE);
