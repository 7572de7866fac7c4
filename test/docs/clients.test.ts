import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/gateway/config.ts';
import { createStartingApp } from '../../src/gateway/http/app.ts';
import { createLog } from '../../src/gateway/log.ts';
import { temporaryFolder } from '../support/engines.ts';
import { newcomersEnvironment } from '../support/newcomer.ts';
import { startProcess } from '../support/process.ts';
import { serveApp, serveListener } from '../support/served-app.ts';
import { has } from '../support/tools.ts';
import { ROOT, tracked } from '../support/tracked-files.ts';

const runFile = promisify(execFile);

/** A fenced block of the guide. */
interface Block {
  readonly title: string;
  readonly language: string;
  /** What stands after the language: `setup`, or the name of the file to keep. */
  readonly note: string;
  readonly text: string;
}

const blocks = readBlocks(readFileSync(join(ROOT, 'docs/clients.md'), 'utf8'));
const PROGRAMS = { bash: 'sh', js: 'js', ts: 'ts', python: 'py' } as const;
/** Lines that no test runs, and why. */
const LEFT_OUT: Record<string, string> = {
  'python3 -m venv .venv && . .venv/bin/activate && pip install requests':
    "not every test machine gets to PyPI: .ci/run installs Debian's python3-requests",
};
/** What the blocks that send again have, by themselves or by the file that they import. */
const AGAIN = /--retry|retry-after|from petstore|-client\.ts'/;
/** The media type, and a refusal until the next hour, as both APIs write them. */
const jsonTypeOf = (url = '') => `application/${url.endsWith('/graphql') ? 'graphql-response+' : ''}json`;
const REFUSAL = '{"message":"Not now.","errors":[{"message":"Not now.","extensions":{"retryAfter":3600}}]}';

/** Blocks that run, each with the `text` block behind it. */
const programs = blocks.flatMap(({ title, language, note, text }, index) => {
  if (!(language in PROGRAMS) || note !== '' || text.trim() in LEFT_OUT) return [];
  const after = blocks[index + 1];
  const file = `block-${index}.${PROGRAMS[language as keyof typeof PROGRAMS]}`; // by the condition above
  const expected = after?.language === 'text' ? after.text : '';
  return [{ name: `${title} › ${language} ${index}`, language, file, text, expected }];
});

function readBlocks(document: string): Block[] {
  let title = '';
  return [...document.matchAll(/^## (.+)$|^```(\w+)(?: (?:file=)?(\S+))?\n([\s\S]*?)^```$/gm)].flatMap(
    ([, heading, language = '', note = '', text = '']) => {
      if (heading !== undefined) title = heading;
      return heading === undefined ? [{ title, language, note, text }] : [];
    },
  );
}

/** The blocks are one story: each goes on where the one before ended. */
const isPossible = has('curl', 'python');

describe('the client guide', () => {
  let folder: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    folder = temporaryFolder();
    const gateway = await startProcess({ DATABASE_URL: 'sqlite::memory:' });
    const [, key = ''] = await gateway.waitFor(/#key=(petstore_\w{38})\n/);
    env = { ...newcomersEnvironment(), PETSTORE_URL: gateway.url, PETSTORE_KEY: key };
    for (const { note, text } of blocks) if (note.includes('.')) writeFileSync(join(folder, note), text);
  });

  const run = (language: string, file: string, more: Record<string, string> = {}) => {
    const commands: Record<string, string[]> = {
      bash: ['bash', '-euo', 'pipefail', file],
      python: ['python3', file],
    };
    const [command = '', ...words] = commands[language] ?? [process.execPath, file];
    return runFile(command, words, { cwd: folder, env: { ...env, ...more } });
  };

  test.runIf(isPossible).each(programs)(
    '$name prints what the guide says',
    async ({ language, file, text, expected }) => {
      writeFileSync(join(folder, file), text);
      const { stdout, stderr } = await run(language, file);
      expect(stdout.trimEnd()).toBe(expected.trimEnd());
      expect(stderr).toBe('');
    },
  );

  test.runIf(isPossible).each(programs.filter(({ text }) => AGAIN.test(text)))(
    '$name does not wait for an hour',
    async ({ language, file, text }) => {
      writeFileSync(join(folder, file), text);
      const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
      // Of the gateway, and of a proxy
      for (const [later, type] of [['3600'], [inAnHour], ['3600', 'text/html'], [inAnHour, 'text/html']] as const) {
        let asked = 0;
        const server = createServer(({ url }, answer) => {
          asked++;
          answer.writeHead(429, { 'Content-Type': type ?? jsonTypeOf(url), 'Retry-After': later });
          answer.end(type ? 'Not now' : REFUSAL);
        });
        await expect(run(language, file, { PETSTORE_URL: await serveListener(server) })).rejects.toThrow();
        expect(asked, `${later} ${type}`).toBeLessThanOrEqual(2); // two creates at once
      }
    },
  );

  // A page, as load balancers have them
  test.runIf(isPossible).each([502, 503, 504])(
    'createPet sends again after a proxy has answered %i',
    async (status) => {
      const { language, file, text, expected } =
        programs.find((one) => one.text.includes('createPet(')) ?? expect.fail();
      writeFileSync(join(folder, file), text);
      let asked = 0;
      const server = createServer((_request, answer) => {
        if (++asked <= 2) answer.writeHead(status, { 'Retry-After': '0' }).end('<html>');
        else answer.writeHead(201).end('{"id":13,"name":"Tom","categoryId":9223372036854775807}');
      });
      const { stdout } = await run(language, file, { PETSTORE_URL: await serveListener(server) });
      expect([stdout, asked]).toEqual([expected, 4]);
    },
  );

  test.runIf(isPossible)('createPet sends again when an answer breaks off', async () => {
    const { language, file, text, expected } = programs.find((one) => one.text.includes('createPet(')) ?? expect.fail();
    writeFileSync(join(folder, file), text);
    const whole = '{"id":13,"name":"Tom","categoryId":9223372036854775807}';
    let asked = 0;
    const server = createServer((request, answer) => {
      answer.writeHead(201, { 'Content-Length': whole.length });
      if (++asked === 1) answer.write(whole.slice(0, 20), () => request.socket.destroy());
      else answer.end(whole);
    });
    const { stdout } = await run(language, file, { PETSTORE_URL: await serveListener(server) });
    expect([stdout, asked]).toEqual([expected, 3]);
  });

  test.runIf(isPossible)('allPets tells what a proxy has answered', async () => {
    const { language, file, text } = programs.find((one) => one.text.includes('allPets(')) ?? expect.fail();
    writeFileSync(join(folder, file), text);
    const server = createServer((_request, answer) => answer.writeHead(503).end('<html>'));
    const failing = run(language, file, { PETSTORE_URL: await serveListener(server) });
    await expect(failing).rejects.toThrow('\nError: <html>');
  });

  test.runIf(isPossible)('ask tells why GraphQL could not be asked', async () => {
    const { language, file, text } = programs.find((one) => one.text.includes('function ask(')) ?? expect.fail();
    writeFileSync(join(folder, file), text);
    const { koa } = createStartingApp(readConfig({}), createLog('silent', { write() {} }));
    const failing = run(language, file, { PETSTORE_URL: await serveApp(koa) });
    await expect(failing).rejects.toThrow('\nError: The gateway is starting');
  });

  test('has six clients that try again', () => {
    expect(programs.filter(({ text }) => AGAIN.test(text))).toHaveLength(6);
  });

  test('has all its TypeScript before the compiler runs', () => {
    const compiler = programs.findIndex(({ text }) => text === 'npx tsc\n');
    expect(compiler).toBeGreaterThan(programs.findLastIndex(({ language }) => language === 'ts'));
    expect(programs.filter(({ language }) => language === 'ts').length).toBeGreaterThan(3);
  });

  test('shows the files of the examples as they are', () => {
    const shown = blocks.filter(({ note }) => note.endsWith('-client.ts'));
    const files = tracked.filter((path) => /^examples\/.+-client\.ts$/.test(path));
    expect(shown.map(({ text }) => text)).toEqual(files.map((path) => readFileSync(join(ROOT, path), 'utf8')));
    expect(files).toHaveLength(2);
  });

  test('has a line for each reason why one is not run', () => {
    expect(blocks.map(({ text }) => text.trim())).toEqual(expect.arrayContaining(Object.keys(LEFT_OUT)));
  });

  test('has a block of every language that it promises, and leaves only PowerShell out', () => {
    const languages = new Set(blocks.map(({ language }) => language));
    expect([...languages].filter((language) => !(language in PROGRAMS)).sort()).toEqual(['json', 'powershell', 'text']);
  });
});
