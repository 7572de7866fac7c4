import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { sendRaw } from '../support/client.ts';
import { afterFile, SQLITE } from '../support/engines.ts';
import { gatewayOf, startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';

const gateway = gatewayOf(SQLITE);

describe('many requests in one packet', () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  test('a body that goes wrong while its request waits is refused with an id, which the log has', async () => {
    const head = `Host: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\n`;
    const wrong = `POST /v1/pets HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nno length\r\n`;
    const text = await sendRaw(gateway.port, `GET /v1/pets HTTP/1.1\r\n${head}\r\n${wrong}`, { answers: 2 });
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '400']);
    const ids = [...text.matchAll(/x-request-id: (\S+)/gi)].map(([, id]) => id);
    expect(ids.map((id) => gateway.logs.filter(({ requestId }) => requestId === id).length)).toEqual([1, 1]);
  });

  test('a GET that waits behind an answer which its client reads slowly is in time, a body that never comes is not', async () => {
    const timeouts = { requestTimeout: 500, headersTimeout: 500, connectionsCheckingInterval: 50 };
    const impatient = await startGateway(SQLITE, {}, timeouts);
    const page = await (await fetch(`${impatient.url}/graphql`, { headers: { accept: 'text/html' } })).text();
    const [asset = ''] = /assets\/\w+\/graphiql\.js/.exec(page) ?? [];
    const pipelined = async (second: string) => {
      const socket = connect(impatient.port, '127.0.0.1').on('error', () => {});
      afterFile(() => void socket.destroy());
      socket.pause();
      socket.write(get(`/${asset}`) + second);
      await delay(1500);
      return (await buffer(socket)).toString('latin1').match(/HTTP\/1\.1 \d+|The request did not arrive in time/g);
    };
    const whole = get('/livez').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    expect(await pipelined(whole)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
    const json = `Authorization: Bearer ${impatient.key}\r\nContent-Type: application/json\r\n`;
    const half = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${json}Content-Length: 5\r\n\r\n`;
    expect(await pipelined(half)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400', 'The request did not arrive in time']);
  });

  describe('that ask for another protocol, which nobody speaks here', () => {
    const upgraded = (rest: string) => `${rest.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n')}`;
    const post = (rest: string) => `POST /livez HTTP/1.1\r\nHost: x\r\n${rest}`;

    // All in one packet, or each in one of its own: then each is answered before the next one comes.
    test.each([
      ['and one behind it', [upgraded(get('/livez')), get('/livez')], ['200 keep-alive', '200 keep-alive']],
      [
        'several, with bodies',
        [
          upgraded(get('/livez')),
          upgraded(post('Content-Length: 3\r\n\r\nabc')),
          upgraded(post('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n')),
          upgraded(get('/livez')),
          get('/livez'),
        ],
        ['200 keep-alive', '405 keep-alive', '405 keep-alive', '200 keep-alive', '200 keep-alive'],
      ],
      ['and no HTTP behind it', [upgraded(get('/livez')), 'GARBAGE\r\n\r\n'], ['200 keep-alive', '400 close']],
      [
        'and a CONNECT behind it',
        [upgraded(get('/livez')), 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n'],
        ['200 keep-alive', '405 close'],
      ],
      ...['', 'Connection: close\r\n'].map((header): [string, string[], string[]] => [
        `with a body that is none: ${header}`,
        [upgraded(post(`${header}Transfer-Encoding: chunked\r\n\r\nzz\r\n`))],
        ['400 close'],
      ]),
    ])('%s: the connection goes on as without that', async (_, requests, expected) => {
      for (const packets of [requests, [requests.join('')], [get('/livez') + requests.join('')]]) {
        const answers = packets[0]?.startsWith(get('/livez')) ? ['200 keep-alive', ...expected] : expected;
        const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
        afterFile(() => void socket.destroy());
        let text = '';
        socket.setEncoding('latin1').on('data', (chunk) => (text += chunk));
        const heads = () =>
          [...text.matchAll(/HTTP\/1\.1 (\d+)[^{]*?Connection: (\S+)/g)].map((head) => `${head[1]} ${head[2]}`);
        for (const [index, packet] of packets.entries()) {
          socket.write(packet);
          const most = packets.length === 1 ? answers.length : index + 1;
          await eventually(() => heads().length >= most, 5000, 'it is answered');
        }
        expect(heads()).toEqual(answers);
      }
    });

    test('what the parser refuses is told as without that, and at once', async () => {
      const json = `Authorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\n`;
      const create = (rest: string) => `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${json}${rest}`;
      const ask = (bytes: string) => sendRaw(gateway.port, bytes, { answers: 9, half: false });
      const told = (text: string) => text.match(/HTTP\/1\.1 \d+|"message":"[^"]*"/g);
      for (const [first, rest] of [
        [create('Content-Length: 50\r\n\r\n'), '{"name":'],
        [create('Transfer-Encoding: chunked\r\n\r\n'), '8\r\n{"name":\r\n'],
        [create('Transfer-Encoding: chunked\r\n\r\n'), ''],
        [get('/livez'), 'GET /livez HTTP/1.1\r\nHo'],
        [get('/livez'), `GET /livez HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
        [create('Content-Length: 2\r\n\r\n{}'), `GET /livez HTTP/1.1\r\nX: ${'x'.repeat(40_000)}`],
        [create('Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n'), '{}'],
      ] as const) {
        const expected = told(await ask(first + rest));
        expect(expected?.at(-2)).toBe('HTTP/1.1 400');
        const isInBody = first.startsWith('POST') && !rest.startsWith('GET'); // what is behind a last request is not read
        for (const head of isInBody ? [first, first.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')] : [first]) {
          const startedAt = performance.now();
          expect(told(await ask(upgraded(head) + rest))).toEqual(expected);
          expect(performance.now() - startedAt, 'ms').toBeLessThan(8000); // HEADERS_MS is 10 s
        }
      }
    });
  });
});

describe('the chunks of a body', () => {
  const chunks = (count: number, size: number) => `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`.repeat(count);
  const ANIMAL = '{"name":"in chunks","categoryId":"one"}'; // is read, and refused
  const CREATE = `${ANIMAL.length.toString(16)}\r\n${ANIMAL}\r\n0\r\n\r\n`;
  const NEXT = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
  const CHUNKED = 'Host: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
  const refused = ['HTTP/1.1 400', 'The body comes in too many small chunks.'];

  test.each([
    ['1,000 of a byte', chunks(1000, 1), ['HTTP/1.1 400', 'categoryId', 'HTTP/1.1 200']],
    ['900 of 64 bytes', chunks(900, 64), ['HTTP/1.1 400', 'categoryId', 'HTTP/1.1 200']],
    ['1,200 of a byte', chunks(1200, 1), refused],
    ['2,000 of 20 bytes', chunks(2000, 20), refused],
  ])('%s: are read, or end the connection and change nothing', async (_, pieces, expected) => {
    const head = `POST /v1/pets HTTP/1.1\r\nAuthorization: Bearer ${gateway.key}\r\n${CHUNKED}\r\n`;
    const answers = expected.filter((word) => word.startsWith('HTTP/')).length;
    for (let round = 0; round < 3; round++) {
      const text = await sendRaw(gateway.port, head + pieces + CREATE + NEXT, { answers, quietMs: 500 });
      expect(text.match(/HTTP\/1\.1 \d+|The body comes[^"]*|categoryId/g)).toEqual(expected);
    }
  });

  test('are counted wherever nobody takes them, and the parser serves further connections as before', async () => {
    const whole = `POST /v1/pets HTTP/1.1\r\nAuthorization: Bearer ${gateway.key}\r\n${CHUNKED}\r\n${CREATE}`;
    for (const start of [
      'GET /livez HTTP/1.1\r\n',
      'POST /v1/pets HTTP/1.1\r\n',
      'GET /livez HTTP/1.1\r\nHost: y\r\n',
    ]) {
      const socket = connect(gateway.port, '127.0.0.1').on('error', () => {}); // it may be cut
      afterFile(() => void socket.destroy());
      socket.resume();
      const closed = new Promise((resolve) => socket.once('close', resolve)); // `once` would reject where it is cut
      const more = setInterval(() => socket.writable && socket.write(chunks(100, 1)), 1);
      socket.write(`${start}${CHUNKED}\r\n`);
      await closed;
      clearInterval(more);
      expect(await sendRaw(gateway.port, whole + NEXT, { answers: 2, quietMs: 500 })).toMatch(
        /categoryId.*HTTP\/1\.1 200/s,
      );
    }
  });
});
