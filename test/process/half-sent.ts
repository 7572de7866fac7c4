import { once } from 'node:events';
import { connect } from 'node:net';
import { afterFile } from '../support/engines.ts';
import { petBody } from '../support/load.ts';

/** A createPet that a gateway works on, and whose body has not come. */
export interface HalfSent {
  /** Sends the body; gives what comes back until the connection ends. */
  finish(): Promise<string>;
}

/** Sends the beginning of a request on a connection of its own, which stays open; gives what has come back so far. */
export async function sendUnfinished(url: string, beginning: string): Promise<() => string> {
  let text = '';
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {}); // it may be cut
  afterFile(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(beginning);
  socket.on('data', (part) => {
    text += part;
  });
  return () => text;
}

/** Begins a createPet on a connection of its own; it waits until the gateway has the header. */
export async function sendHalf(url: string, key: string, name: string): Promise<HalfSent> {
  const body = petBody(name);
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {}); // it may be cut
  afterFile(() => void socket.destroy());
  socket.write(
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  const [first] = await once(socket, 'data');
  if (!String(first).startsWith('HTTP/1.1 100 ')) throw new Error(`not continued: ${first}`);
  let text = '';
  socket.on('data', (part) => {
    text += part;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve)); // from now on, it may be cut before `finish`
  return {
    async finish() {
      socket.end(body);
      await closed;
      return text;
    },
  };
}
