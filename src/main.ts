import { enableCompileCache } from 'node:module';

// Before anything else is loaded: the second start need not strip types and compile again.
enableCompileCache();
const [{ start }, { PETSTORE }] = await Promise.all([import('./process/start.ts'), import('./petstore/petstore.ts')]);
await start(PETSTORE);
