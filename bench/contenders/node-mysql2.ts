import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import { createBearerCheck } from '../parts/bearer-check.ts';
import * as rules from '../parts/pet-rules.ts';
import { createPreparedStore } from '../parts/prepared-store.ts';
import { readBody } from '../parts/read-body.ts';
import { HOST, settings } from '../parts/settings.ts';

// No framework and no query builder: about the least work that Node can do for these answers.

const pets = createPreparedStore();
const isAllowed = createBearerCheck(pets);

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

async function listPets(search: string): Promise<Answer> {
  const query = rules.readPetsQuery(new URLSearchParams(search));
  const rows = await pets.listPets(query);
  const page = rows.slice(0, query.limit);
  const more = rows.length > page.length;
  const headers = more ? { Link: rules.nextPageLink(query, page.at(-1)) } : {};
  return { status: 200, body: page.map(rules.toPet), headers };
}

async function createPet(request: IncomingMessage): Promise<Answer> {
  const row = await pets.addPet(rules.readNewPet(rules.parseJson(await readBody(request))));
  return { status: 201, body: rules.toPet(row), headers: { Location: `/v1/pets/${row.id}` } };
}

async function getPet(petId: string): Promise<Answer> {
  const id = rules.parseId(petId);
  const row = id === undefined ? undefined : await pets.getPet(id);
  if (row === undefined) throw rules.notFound();
  return { status: 200, body: rules.toPet(row) };
}

async function route(request: IncomingMessage): Promise<Answer> {
  if (!(await isAllowed(request.headers.authorization))) throw rules.unauthorized();
  const [path = '', search = ''] = (request.url ?? '').split('?', 2);
  if (path === '/v1/pets' && request.method === 'GET') return listPets(search);
  if (path === '/v1/pets' && request.method === 'POST') return createPet(request);
  if (path.startsWith('/v1/pets/') && request.method === 'GET') return getPet(path.slice('/v1/pets/'.length));
  throw rules.notFound();
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  const json = JSON.stringify(body);
  const length = Buffer.byteLength(json);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': length,
    ...headers,
  });
  response.end(json);
}

const server = createServer((request, response) => {
  route(request).then(
    (answer) => send(response, answer),
    (error: unknown) => {
      const refusal = error instanceof rules.HttpError ? error : new rules.HttpError(500, 'internal_error', 'A fault.');
      send(response, { status: refusal.status, body: refusal.body });
    },
  );
});
server.listen(settings.port, HOST);
