import type { Socket } from 'node:net';
import { openSocket, sendHead } from '../support/client.ts';
import { petBody } from '../support/load.ts';

/** Sends the beginning of a request on a connection of its own, which stays open; gives what has come back so far. */
export async function sendUnfinished(url: string, beginning: string): Promise<() => string> {
  const socket = await openSocket(Number(new URL(url).port));
  socket.write(beginning);
  return collect(socket);
}

/**
 * Begins a createPet on a connection of its own; it waits until the gateway has the header. `finish` sends the body, and gives
 * what comes back until the connection ends.
 */
export async function sendHalf(url: string, key: string, name: string, fields = '') {
  const body = petBody(name);
  const socket = await sendHead(Number(new URL(url).port), '/v1/pets', key, body, fields);
  const text = collect(socket);
  const closed = new Promise((resolve) => socket.once('close', resolve)); // from now on, it may be cut before `finish`
  return {
    async finish(): Promise<string> {
      socket.end(body);
      await closed;
      return text();
    },
  };
}

/** Gives what has come on a connection so far. */
function collect(socket: Socket): () => string {
  let text = '';
  socket.on('data', (part) => {
    text += part;
  });
  return () => text;
}
