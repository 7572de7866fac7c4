/*
 * Floods a gateway from a process of its own, so that it takes no time from the client that is measured:
 * node flood.ts URL KEY KIND CONNECTIONS. It ends with its standard input.
 */
import { connect } from 'node:net';
import { generateApiKey } from '../../src/gateway/keys/api-key.ts';
import { rawGet, rawPost } from '../support/raw-requests.ts';

const [, , url = '', key = '', kind = '', connections = '1'] = process.argv;
const { hostname, port } = new URL(url);

let turn = 0;
/** One request of each kind; a new text each time where equal ones would share their work. */
const REQUESTS: Record<string, () => string> = {
  lists: () => rawGet(`/v1/pets?limit=100&after=${turn++ % 900}`, key),
  'deep pages': () => rawGet(`/v1/pets?status=sold&limit=100&after=${100_000 - (turn++ % 900)}`, key),
  GraphQL: () => {
    const query = `{ a: pets(limit: 100, after: "${turn++ % 900}") { id name categoryId status } b: pets(status: SOLD) { id name } }`;
    return rawPost('/graphql', key, JSON.stringify({ query }));
  },
  creates: () => rawPost('/v1/pets', key, '{"name":"Flood","categoryId":1}'),
  'unfinished bodies': () => rawPost('/v1/pets', key, '{"name":"Flood","categoryId":1}').slice(0, -1),
  'made-up keys': () => rawGet('/v1/pets?limit=1', generateApiKey()),
};
const next = REQUESTS[kind];
if (next === undefined) throw new Error(`no flood is called ${kind}`);

const END_OF_HEAD = '\r\n\r\n';
let answers = 0;

function open(): void {
  const socket = connect(Number(port), hostname);
  socket.setNoDelay();
  let received = Buffer.alloc(0);
  socket.on('connect', () => socket.write(next?.() ?? ''));
  socket.on('data', (part) => {
    received = received.length === 0 ? part : Buffer.concat([received, part]);
    const headEnd = received.indexOf(END_OF_HEAD);
    if (headEnd < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(received.toString('latin1', 0, headEnd))?.[1] ?? 0);
    if (received.length < headEnd + END_OF_HEAD.length + length) return;
    received = Buffer.alloc(0);
    answers++;
    if (kind !== 'unfinished bodies') socket.write(next?.() ?? '');
  });
  socket.on('error', () => {});
  socket.on('close', () => setTimeout(open, 50));
}

for (let connection = 0; connection < Number(connections); connection++) open();
console.log('flooding');
setInterval(() => console.log(`answers ${answers}`), 500);
process.stdin.on('end', () => process.exit()).resume();
