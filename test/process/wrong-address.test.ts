import { describe, expect, it, test } from 'vitest';
import { explainFailure } from '../../src/gateway/command-line.ts';
import { run } from '../support/process.ts';

/** Starts a gateway that cannot start: exit code, and the line on standard error. */
async function failToStart(env: Record<string, string>) {
  const started = run('main.ts', [], { PORT: '0', ...env });
  const { code } = await started.exited;
  return { code, line: started.stderr().trimEnd() };
}

/** What Node reports when it cannot listen. */
function listenError(code: string, syscall = 'listen'): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
}

describe('an address at which nothing can listen', () => {
  // Of a network that nobody has, RFC 5737; an interface that comes up later may have such an address.
  it.each(['1', '2'])('an address of another machine, WORKERS=%s: names the setting, exit code 1', async (workers) => {
    const line = 'HOST="192.0.2.1" is not allowed: an address or a name of this machine';
    expect(await failToStart({ HOST: '192.0.2.1', WORKERS: workers })).toEqual({ code: 1, line });
  });

  it.each([
    ['ENOTFOUND', 2],
    ['EAI_AGAIN', 1], // a name server that does not answer may do so later
  ])('a name: %s, exit code %i', (code, exitCode) => {
    const config = { host: 'pets.example', port: 4000, databaseUrl: 'sqlite:x', adminPort: undefined };
    const line = 'HOST="pets.example" is not allowed: an address or a name of this machine';
    expect(explainFailure(listenError(code, 'getaddrinfo'), config)).toEqual({ line, exitCode });
  });

  test('a port of the privileged: names the setting; a file that may not be opened is none', () => {
    const config = { host: '127.0.0.1', port: 80, databaseUrl: 'sqlite:x', adminPort: undefined };
    const line = 'PORT="80" is not allowed: a port that this user may listen at, such as 4000';
    for (const syscall of ['listen', 'bind']) {
      expect(explainFailure(listenError('EACCES', syscall), config)).toEqual({ line, exitCode: 2 });
    }
    expect(explainFailure(listenError('EACCES', 'open'), config)).toEqual({ line: 'open EACCES', exitCode: 1 });
  });

  test('the last port in use: another that there is', () => {
    const config = { host: '127.0.0.1', port: 65_535, databaseUrl: 'sqlite:x', adminPort: undefined };
    expect(explainFailure(listenError('EADDRINUSE'), config).line).toMatch(/PORT=65534 npm start$/);
  });

  test('sqlite::memory: with several workers: the value is what was written', async () => {
    const line = 'WORKERS="02" is not allowed: 1, because sqlite::memory: is seen by one process only';
    expect(await failToStart({ DATABASE_URL: 'sqlite::memory:', WORKERS: ' 02 ' })).toEqual({ code: 2, line });
  });
});
