import { chmodSync, copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterFile, temporaryFolder } from '../support/engines.ts';
import { runBlock } from '../support/page-blocks.ts';
import { ROOT, tracked } from '../support/tracked-files.ts';

/** A program that runs `docker compose` without Docker; its head tells how. It stands beside the repository, or where COMPOSE_REAL says. */
const TOOL = process.env.COMPOSE_REAL ?? join(import.meta.dirname, '../../../shared/tools/compose-real');
/** Where that program keeps its images, prepared or not. */
const TOOL_FOLDER = process.env.COMPOSE_REAL_FOLDER ?? '/var/tmp/petstore-compose';

/** In place of Docker's own command: only `up` starts an engine. */
const SHIM = `#!/bin/bash
shift
[[ $1 != up ]] || exec bash "$COMPOSE_REAL" up "$COMPOSE_REAL_FOLDER" "\${@:2}"
exec bash "$COMPOSE_REAL" run "$COMPOSE_REAL_FOLDER" -- "$@"
`;

/** A copy of the project that commands of `docker compose` are run in. */
export interface ComposeProject {
  /** Runs a block of a page as a reader does, up to what fails; gives the standard output. Rejects with all that was said. */
  run(block: string): Promise<string>;
}

/** Copies what git knows of the project, as a checkout under umask 077 has it, with a `.env`. Its containers, images and volumes are removed after the test file. */
export async function composeProject(settings: Record<string, string>): Promise<ComposeProject> {
  const folder = temporaryFolder();
  for (const path of tracked) {
    const copy = join(folder, path);
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
    copyFileSync(join(ROOT, path), copy);
    chmodSync(copy, statSync(copy).mode & 0o700);
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''));
  // What the shell has goes before what `.env` says.
  const inherited = Object.entries(process.env).filter(([name]) => !(name in settings));
  const env: Record<string, string> = {
    ...Object.fromEntries(inherited.map(([name, value = '']) => [name, value])),
    PROJECT: folder,
    COMPOSE_REAL: TOOL,
    COMPOSE_REAL_FOLDER: TOOL_FOLDER,
  };
  const run = async (block: string) => {
    const { code, stdout, stderr } = await runBlock(`set -euo pipefail\n${block}`, folder, env);
    if (code !== 0) throw new Error(`ended with ${code}:\n${block}\n${stdout}${stderr}`);
    return stdout;
  };
  if (existsSync(TOOL)) {
    const bin = temporaryFolder();
    writeFileSync(join(bin, 'docker'), SHIM, { mode: 0o755 });
    env.PATH = `${bin}:${env.PATH}`;
    await run('bash "$COMPOSE_REAL" prepare "$COMPOSE_REAL_FOLDER"');
    afterFile(() => run('bash "$COMPOSE_REAL" down "$COMPOSE_REAL_FOLDER"').then(() => undefined));
  }
  afterFile(() => run('docker compose down --volumes --rmi local').then(() => undefined));
  return { run };
}
