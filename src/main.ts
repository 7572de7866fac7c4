import { enableCompileCache } from 'node:module';

// Before anything else is loaded: the second start need not strip types and compile again.
enableCompileCache();
const { start } = await import('./process/start.ts');
await start();
