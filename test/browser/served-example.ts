import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import Koa from 'koa';
import { temporaryFolder } from '../support/engines.ts';
import { newcomersEnvironment } from '../support/newcomer.ts';
import { serveApp } from '../support/served-app.ts';
import { ROOT, tracked } from '../support/tracked-files.ts';

const runFile = promisify(execFile);

/** Installs and builds an example for a gateway, as its README says, and serves it from an origin of its own: the address. */
export async function serveExample(name: string, gatewayUrl: string): Promise<string> {
  const folder = temporaryFolder();
  const home = join('examples', name);
  for (const path of ['schema.graphql', ...tracked.filter((file) => file.startsWith(`${home}/`))])
    cpSync(join(ROOT, path), join(folder, path));
  const options = { cwd: join(folder, home), env: { ...newcomersEnvironment(), VITE_GATEWAY_URL: gatewayUrl } };
  for (const words of [['ci'], ['run', 'build']])
    await runFile('npm', words, options).catch((error) => {
      throw new Error(`npm ${words.join(' ')}: ${error.stdout}${error.stderr}`);
    });
  const app = new Koa();
  app.use(async (ctx) => {
    const file = ctx.path === '/' ? '/index.html' : ctx.path;
    ctx.type = extname(file);
    ctx.body = await readFile(join(folder, home, 'dist', file)).catch(() => null);
  });
  return serveApp(app);
}
