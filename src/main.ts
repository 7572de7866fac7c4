import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';

// V8 may decide that what a line of code makes lives long, and from then on makes it in the old space, with all that it
// refers to: one such line is met by every request (on-finished, for Koa). A fifth of the processes came to that at some
// time under load, and took half as long again for each request, for the collection of the garbage alone.
setFlagsFromString('--no-allocation-site-pretenuring');
// Before anything else is loaded: the second start need not strip types and compile again.
enableCompileCache();
const { start } = await import('./process/start.ts');
await start();
