import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/gateway/config.ts';
import { ERRORS } from '../../src/gateway/errors.ts';
import { LIMITS } from '../../src/gateway/graphql/limits.ts';
import { createStartingApp } from '../../src/gateway/http/app.ts';
import { createLog } from '../../src/gateway/log.ts';
import { readRecipes } from '../../src/gateway/pages/guides.ts';
import { samplePet } from '../../src/petstore/pets/pet.ts';
import { PET_DEPRECATION } from '../../src/petstore/pets/pet-types.ts';
import { CHANGES } from '../../src/petstore/petstore.ts';
import { afterFile, SQLITE, temporaryFolder } from '../support/engines.ts';
import { gatewayOf } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { freePort } from '../support/ports.ts';
import { serveApp, serveListener } from '../support/served-app.ts';
import { has } from '../support/tools.ts';
import { ROOT, tracked } from '../support/tracked-files.ts';

const ANIMALS = 101; // more than the largest page

const gateway = gatewayOf(SQLITE);
let html: string;
beforeAll(async () => {
  await gateway.pets.addAll(Array.from({ length: ANIMALS }, (_, index) => samplePet(index)));
  html = (await gateway.request('/docs')).text;
});

const decode = (text: string) => text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

/** A section of the reference, as HTML. */
function sectionOf(id: string): string {
  return html.split(`<section id="${id}"`)[1]?.split('</section>')[0] ?? '';
}

/** Runs the program of a guide. Gives what it printed. */
function runSample(id: string, language: string): Promise<string> {
  const [, code = ''] = new RegExp(`<pre data-language="${language}">([^<]*)</pre>`).exec(sectionOf(id)) ?? [];
  return run(language, decode(code));
}

/** Starts a program in a folder of its own. */
function start(language: string, code: string) {
  const commands: Record<string, [string, ...string[]]> = {
    curl: ['bash', '-euo', 'pipefail', '-c'],
    JavaScript: [process.execPath, '--input-type=module', '-e'],
    Python: ['python3', '-c'],
  };
  const [program, ...words] = commands[language] ?? [''];
  const env = { PATH: process.env.PATH, PETSTORE_KEY: gateway.key };
  const options = { env, cwd: temporaryFolder(), maxBuffer: 1e7 };
  return promisify(execFile)(program, [...words, code], options);
}

const run = async (language: string, code: string): Promise<string> => (await start(language, code)).stdout;

const PROGRAMMED = ['JavaScript', ...(has('python') ? ['Python'] : [])];
const LANGUAGES = [...(has('curl') ? ['curl'] : []), ...PROGRAMMED];

describe('the programs of the guides run as they stand', () => {
  test.each([
    ...LANGUAGES.map((language) => ({ language, guide: 'paging' })),
    ...PROGRAMMED.map((language) => ({ language, guide: 'graphql-paging' })),
  ])('$language reads all pages of a list: $guide', async ({ language, guide }) => {
    const printed = await runSample(guide, language);
    expect(new Set(printed.match(/(?<=\bid\W+)\d+/g))).toHaveProperty('size', ANIMALS);
  });

  test.each(LANGUAGES)('%s makes a call in GraphQL', async (language) => {
    expect(await runSample('graphql', language)).toContain('Bella');
  });

  test.each(LANGUAGES)('%s adds an animal, and tells it', async (language) => {
    expect(await runSample('retries', language)).toMatch(/"id":\s*\d+.*"Rex"/);
  });
});

test.each(LANGUAGES)('%s repeats what passes, under one Idempotency-Key', async (language) => {
  const keys: unknown[] = [];
  const server = createServer(({ headers, socket }, answer) => {
    const number = keys.push(headers['idempotency-key']);
    const isCurl = language === 'curl'; // it does not repeat after what breaks
    if (number === 1 && !isCurl) socket.destroy();
    else if (number === 2 && !isCurl)
      answer.writeHead(201, { 'Content-Length': 54 }).write('{"id":1', () => socket.destroy());
    else answer.writeHead(number < 3 ? 503 : 201, { 'Retry-After': '0' }).end('{}');
  });
  const url = await serveListener(server);
  const body = `{"name":"O'Malley \\"Rex\\""}`;
  await run(language, readRecipes('retries', { URL: `${url}/`, BODY: body })[language] ?? '');
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
});

describe.runIf(LANGUAGES.includes('curl'))('curl, as the guide says', () => {
  const recipe = (url: string) => readRecipes('retries', { URL: url, BODY: '{}' }).curl ?? '';

  test('repeats after a connection that was refused', async () => {
    const port = await freePort();
    const program = start('curl', recipe(`http://127.0.0.1:${port}/`));
    let told = '';
    program.child.stderr?.on('data', (part) => {
      told += part;
    });
    await eventually(() => /refused/i.test(told), 60_000, 'the connection was refused');
    const server = createServer((_request, answer) => answer.writeHead(201).end('{}'));
    afterFile(() => void server.close());
    server.listen(port, '127.0.0.1');
    expect((await program).stdout).toBe('{}');
  });

  test('repeats after the statuses that docs/clients.md names', async () => {
    const statuses = [408, 429, 500, 502, 503, 504];
    const asked = new Map<string | undefined, number>();
    const server = createServer(({ url }, answer) => {
      asked.set(url, (asked.get(url) ?? 0) + 1);
      answer.writeHead(asked.get(url) === 1 ? Number(url?.slice(1)) : 201).end();
    });
    const base = await serveListener(server);
    await Promise.all(statuses.map((status) => run('curl', recipe(`${base}/${status}`))));
    expect([...asked.values()]).toEqual(statuses.map(() => 2));
  });

  test.each([
    ['after one that broke', undefined],
    ['after 409', 409],
  ])('does not repeat %s', async (_what, status) => {
    let asked = 0;
    const server = createServer(({ socket }, answer) => {
      asked++;
      if (status === undefined) socket.destroy();
      else answer.writeHead(status).end('{}');
    });
    await expect(run('curl', recipe(`${await serveListener(server)}/`))).rejects.toThrow();
    expect(asked).toBe(1);
  });
});

// curl counts for itself.
test.each(PROGRAMMED)('%s repeats 409, 429, 502, 503 and 504, and gives up after five tries', async (language) => {
  const statuses = [409, 429, 502, 503, 504, 201];
  const server = createServer((_request, answer) => {
    answer.writeHead(statuses.shift() ?? 500, { 'Retry-After': '0' }).end('{}');
  });
  const url = await serveListener(server);
  const code = readRecipes('retries', { URL: `${url}/`, BODY: '{}' })[language] ?? '';
  await expect(run(language, code)).rejects.toThrow('No answer after 5 tries');
  expect(statuses).toEqual([201]);
});

// A date is a proxy's: RFC 9110, section 10.2.3
const LATER = ['in seconds', 'as a date'].flatMap((form) => LANGUAGES.map((language) => [language, form] as const));
test.each(LATER)('%s does not wait for an hour, told %s', async (language, form) => {
  const later = form === 'as a date' ? new Date(Date.now() + 3_600_000).toUTCString() : '3600';
  let asked = 0;
  const server = createServer((_request, answer) => {
    asked++;
    answer.writeHead(429, { 'Retry-After': later }).end('Not now');
  });
  const url = await serveListener(server);
  const code = readRecipes('retries', { URL: `${url}/`, BODY: '{}' })[language] ?? '';
  await expect(run(language, code)).rejects.toThrow(/3[56]\d\d s|error: 429/);
  expect(asked).toBe(1);
});

test.each(PROGRAMMED)('%s tells why GraphQL could not be asked: the gateway has no database yet', async (language) => {
  const url = await serveApp(createStartingApp(readConfig({}), createLog('silent', { write() {} })).koa);
  const texts = { URL: `${url}/graphql`, QUERY: '{ pets { id } }' };
  const code = readRecipes('graphql-paging', texts, ['JavaScript', 'Python'])[language] ?? '';
  await expect(run(language, code)).rejects.toThrow('The gateway is starting');
});

test.each(LANGUAGES)('%s ends with an error where a page is refused', async (language) => {
  let pages = 0;
  const server = createServer((_request, answer) => {
    if (++pages === 1) answer.writeHead(200, { Link: `<${url}/next>; rel="next"` }).end('[]');
    else answer.writeHead(429).end('Not now');
  });
  const url = await serveListener(server);
  await expect(run(language, readRecipes('paging', { URL: `${url}/` })[language] ?? '')).rejects.toThrow(/429|Not now/);
  expect(pages).toBe(2);
});

describe('the guides name', () => {
  test('every code of both APIs', () => {
    const codes = Object.entries(ERRORS).flatMap(([code, { graphql }]) => [code, graphql]);
    expect(codes.filter((code) => !sectionOf('errors').includes(`>${code}</code>`))).toEqual([]);
    const ofGraphql = ['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'];
    const further = [...ofGraphql, ...Object.values(LIMITS).map(({ code }) => code)];
    expect(further.filter((code) => !sectionOf('limits').includes(`<code>${code}</code>`))).toEqual([]);
  });

  test('how a list is read again safely', () => {
    expect(sectionOf('paging')).toContain('Pages are no change feed');
    expect(readFileSync(join(ROOT, 'docs/clients.md'), 'utf8')).toContain('begin each reading at the');
  });

  test('which errors pass', () => {
    const passing = [...sectionOf('errors').matchAll(/<dt>(\d+)(?:(?!<dt>).)*Send it again/g)].map(
      ([, status]) => status,
    );
    expect(passing).toEqual(['409', '429', '503']);
  });

  test('the limits of GraphQL by their messages', async () => {
    const aliases = Array.from({ length: LIMITS.aliases.max + 1 }, (_, index) => `a${index}: __typename`);
    const refused = await gateway.graphql(`{ ${aliases.join(' ')} }`);
    expect(decode(sectionOf('limits'))).toContain(refused.json.errors[0].message);
    const animals = Array.from({ length: 5 }, (_, index) => `p${index}: pets(limit: 100) { id }`);
    const costly = await gateway.graphql(`{ ${animals.join(' ')} more: pets(limit: 1) { id } }`);
    expect(decode(sectionOf('limits'))).toContain(costly.json.errors[0].message);
  });

  test('every version of the changelog', () => {
    const versions = [...readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').matchAll(/^## (.+)$/gm)].map(
      ([, name]) => name,
    );
    expect(CHANGES.map(({ version }) => version)).toEqual(versions);
    for (const { changes } of CHANGES) expect(changes.length).toBeGreaterThan(0);
    expect(sectionOf('changes').match(/<h3>[^<]+/g)).toEqual(versions.map((name) => `<h3>${name}`));
  });
});

describe('who is told to leave getPet', () => {
  test('is led to the place that says how', async () => {
    const { headers } = await gateway.request('/v1/pets/42');
    const [, place = ''] = /<([^>]*)>; rel="deprecation"/.exec(headers.get('link') ?? '') ?? [];
    const { pathname, hash } = new URL(place, gateway.url);
    expect(pathname).toBe('/docs');
    const told = decode(sectionOf(hash.slice(1)));
    for (const { rest, graphql } of PET_DEPRECATION.steps ?? []) {
      expect(told).toContain(`<code>${rest}</code>`);
      expect(told).toContain(`<code>${graphql}</code>`);
    }
  });

  test('learns it from the schema in GraphQL, as long as no header says it', async () => {
    const { headers, json } = await gateway.graphql('{ pet(id: 1) { id } }');
    expect([json.data.pet, headers.get('deprecation')]).toEqual([{ id: '1' }, null]);
    expect(sectionOf('deprecations')).toContain('<code>@deprecated</code>');
  });

  test('finds one animal by the requests there, in both APIs', async () => {
    const steps = (PET_DEPRECATION.steps ?? []).filter(({ purpose }) => purpose.includes('42'));
    expect(steps).toHaveLength(1);
    for (const { rest, graphql } of steps) {
      const one = await gateway.request(rest.replace('GET ', ''));
      expect(one.json).toEqual([(await gateway.request('/v1/pets/42')).json]);
      expect((await gateway.graphql(graphql)).json.data.pets).toMatchObject([{ id: '42' }]);
    }
  });

  test('reads the same requests in docs/deprecations.md', () => {
    const document = readFileSync(join(ROOT, 'docs/deprecations.md'), 'utf8');
    for (const { rest } of PET_DEPRECATION.steps ?? []) expect(document).toContain(`\`${rest}\``);
  });
});

// Interactive zsh takes the comment for words of the command.
test('no command of a document has a comment at its end', () => {
  const documents = tracked
    .filter((path) => path.endsWith('.md'))
    .map((path) => readFileSync(join(ROOT, path), 'utf8'));
  const blocks = documents.flatMap((text) => text.match(/^```(?:bash|sh)\b[\s\S]*?^```$/gm) ?? []);
  expect(blocks.flatMap((block) => block.match(/^.*\S[ \t]+# .*$/gm) ?? [])).toEqual([]);
  expect(blocks.length).toBeGreaterThan(30);
});
