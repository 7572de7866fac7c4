import { once } from 'node:events';
import { openSocket } from '../support/client.ts';
import { petBody } from '../support/load.ts';
import { rawPost } from '../support/raw-requests.ts';

/** Sends the beginning of a request on a connection of its own, which stays open; gives what has come back so far. */
export async function sendUnfinished(url: string, beginning: string): Promise<() => string> {
  const { text } = await begin(url, beginning);
  return text;
}

/**
 * Begins a createPet on a connection of its own; it waits until the gateway has the header. `finish` sends the body, and gives
 * what comes back until the connection ends.
 */
export async function sendHalf(url: string, key: string, name: string, fields = '') {
  const body = petBody(name);
  const request = rawPost('/v1/pets', key, body, `Expect: 100-continue\r\n${fields}`);
  const { socket, text } = await begin(url, request.slice(0, -body.length));
  await once(socket, 'data');
  const continued = text();
  if (!continued.startsWith('HTTP/1.1 100 ')) throw new Error(`not continued: ${continued}`);
  const closed = new Promise((resolve) => socket.once('close', resolve)); // from now on, it may be cut before `finish`
  return {
    async finish(): Promise<string> {
      socket.end(body);
      await closed;
      return text().slice(continued.length);
    },
  };
}

async function begin(url: string, beginning: string) {
  let text = '';
  const socket = await openSocket(Number(new URL(url).port));
  socket.on('data', (part) => {
    text += part;
  });
  socket.write(beginning);
  return { socket, text: () => text };
}
