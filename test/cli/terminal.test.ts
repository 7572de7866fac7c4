import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { SQLITE, temporaryFolder } from '../support/engines.ts';
import { onTerminal, screenLines } from '../support/terminal.ts';
import { ROOT } from '../support/tracked-files.ts';

const COLUMNS = 80;
const program = (file: string) => `'${process.execPath}' '${join(ROOT, file)}'`;
/** Lines to copy, or to click, and paths cannot be cut. */
const toCopy = (line: string) => /^ {2}(?:curl|http)|INFO: the database is /.test(line);

/** Starts the gateway on a terminal, and stops it after its greeting; gives what was on the screen. */
async function startOnTerminal(folder: string, ready: RegExp, env: Record<string, string> = {}): Promise<string[]> {
  const terminal = onTerminal(program('start.js'), COLUMNS, { PORT: '0', ...env }, folder);
  await terminal.waitFor(ready);
  await terminal.interrupt();
  return screenLines(terminal.shown());
}

describe.concurrent('npm start on a terminal of 80 columns', () => {
  test('the first start greets, later ones print the addresses, and every line but those to copy fits', async () => {
    const folder = temporaryFolder();
    const first = await startOnTerminal(folder, /graphql#key=petstore_\w+/);
    expect(first.filter((line) => line.length > COLUMNS && !toCopy(line))).toEqual([]);
    const addresses = first.filter((line) => /^ {2}(?:Overview|REST|Reference|GraphQL) +http:/.test(line));

    const second = await startOnTerminal(folder, /Lost the key\?.*\r?\n/);
    expect(second.filter((line) => line.length > COLUMNS && !toCopy(line))).toEqual([]);
    const withoutPort = (line: string) => line.replace(/:\d+\//, ':PORT/');
    const lost = expect.stringMatching(/^ {2}Lost the key\? .+ create --name NAME makes another$/);
    expect(second.filter((line) => /^ {2}\w/.test(line)).map(withoutPort)).toEqual([
      ...addresses.map(withoutPort),
      lost,
    ]);
    expect(second.join('\n')).not.toMatch(/petstore_\w{38}/);
  });

  test('log lines are readable, and one warns of a setting that was mistyped', async () => {
    const folder = temporaryFolder();
    const terminal = onTerminal(
      `sh -c 'echo PROT=1 >.env; exec "$@"' sh ${program('start.js')}`,
      COLUMNS,
      { PORT: '0' },
      folder,
    );
    const [, url = ''] = await terminal.waitFor(/Overview +(http:\S+?)\/\r?\n/);
    await fetch(`${url}/`);
    await terminal.waitFor(/GET \/ 200 in/);
    await terminal.interrupt();
    const lines = screenLines(terminal.shown());
    const warning = /WARN.*\.env: PROT is no setting of the gateway; did you mean PORT\?/;
    expect(lines).toContainEqual(expect.stringMatching(warning));
    expect(lines.filter((line) => line.startsWith('{'))).toEqual([]);
  });

  // Ctrl+C is two SIGINTs: the terminal's, and npm's, where npm's shell becomes the program, as bash does, which is sh on many
  // machines. On a machine that holds npm up for half a second they are two Ctrl+C: then it is tried again.
  test('Ctrl+C of npm start drains, and its exit code is 0', { retry: 4 }, async () => {
    const folder = temporaryFolder({ 'package.json': JSON.stringify({ scripts: { start: program('start.js') } }) });
    const env = { PORT: '0', npm_config_script_shell: 'bash', npm_config_update_notifier: 'false' };
    const terminal = onTerminal('npm start', COLUMNS, env, folder);
    await terminal.waitFor(/graphql#key=petstore_\w+/);
    await terminal.interrupt();
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
  });
});

describe.concurrent('seed on a terminal', () => {
  test.each([80, 20])('of %i columns redraws one line that never reaches the last column', async (columns) => {
    const env = { DATABASE_URL: await SQLITE.freshDatabase() };
    const terminal = onTerminal(`${program('src/cli/seed.ts')} --pets 60000`, columns, env, temporaryFolder());
    await terminal.exited;
    const shown = terminal.shown();
    const draws = stripVTControlCharacters(shown)
      .split(/[\r\n]+/)
      .filter((text) => text.includes(' of ') || text.startsWith('['));
    expect(draws.length).toBeGreaterThan(1);
    expect(draws.filter((draw) => draw.length >= columns)).toEqual([]);
    expect(screenLines(shown).filter((line) => line !== '')).toEqual([
      expect.stringMatching(/^60,000 animals added in [\d.]+ s\.$/),
    ]);
  });
});
