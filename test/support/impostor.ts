import { createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { listenOnFreePort } from './served-app.ts';

/** What an impostor says and hears, packet by packet. */
export interface Talk {
  readonly socket: Socket;
  /** Sends packets in one piece, numbered from `first`. */
  say(first: number, ...payloads: readonly (Buffer | readonly number[])[]): void;
  /** The next packet without its header; undefined when the client has gone. */
  hear(): Promise<Buffer | undefined>;
  /** Takes the client's wish for TLS and goes on encrypted. */
  encrypt(key: Buffer, cert: Buffer): Promise<TLSSocket>;
}

/** Somebody who answers as a MySQL server and talks by a script; gives all bytes that came to it. */
export async function startImpostor(script: (talk: Talk) => Promise<unknown>) {
  const heard: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {}); // the client may cut it
    socket.on('data', (data) => heard.push(data));
    const listening = listener(socket);
    const encrypt = async (key: Buffer, cert: Buffer) => {
      await listening.hear();
      listening.stop();
      const tls = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext({ key, cert }) });
      return tls.on('error', () => {}); // the client may not trust it
    };
    void script({ socket, say: speaker(socket), hear: listening.hear, encrypt }).catch(() => socket.destroy());
  });
  return { port: await listenOnFreePort(server), allHeard: () => Buffer.concat(heard) };
}

/** The first packet of a server: its nonce is 20 times the letter n. */
export function greeting(plugin: string, { tls = false } = {}): Buffer {
  const capabilities = 0x00_08_82_08 | (tls ? 0x800 : 0);
  const numbers = Buffer.alloc(8);
  numbers.writeUInt16LE(capabilities & 0xff_ff, 0);
  numbers.writeUInt8(255, 2); // utf8mb4
  numbers.writeUInt16LE(2, 3); // autocommit
  numbers.writeUInt16LE(capabilities >>> 16, 5);
  numbers.writeUInt8(21, 7);
  const text = (words: string) => Buffer.from(`${words}\0`);
  return Buffer.concat([
    Buffer.from([10]),
    text('9.7.0'),
    Buffer.from([1, 0, 0, 0]),
    text('n'.repeat(8)),
    numbers,
    Buffer.alloc(10),
    text('n'.repeat(12)),
    text(plugin),
  ]);
}

/** An error of the server. */
export function failure(errno: number, sqlState: string, message: string): Buffer {
  return Buffer.concat([Buffer.from([0xff, errno & 0xff, errno >>> 8]), Buffer.from(`#${sqlState}${message}`)]);
}

/** Asks the client to prove itself in another way. */
export function switchTo(plugin: string): Buffer {
  return Buffer.from(`\xfe${plugin}\0${'n'.repeat(20)}\0`, 'latin1');
}

function speaker(socket: Socket): Talk['say'] {
  return (first, ...payloads) => {
    const packets = payloads.flatMap((payload, index) => {
      const header = Buffer.alloc(4);
      header.writeUIntLE(payload.length, 0, 3);
      header.writeUInt8(first + index, 3);
      return [header, Buffer.from(payload)];
    });
    socket.write(Buffer.concat(packets));
  };
}

function listener(socket: Socket): Pick<Talk, 'hear'> & { stop(): void } {
  let bytes = Buffer.alloc(0);
  let hasEnded = false;
  let wake = () => {};
  const take = (data: Buffer) => {
    bytes = Buffer.concat([bytes, data]);
    wake();
  };
  const finish = () => {
    hasEnded = true;
    wake();
  };
  socket.on('data', take).on('close', finish).on('end', finish);
  const hear = async () => {
    for (;;) {
      const length = bytes.length < 4 ? Number.POSITIVE_INFINITY : 4 + bytes.readUIntLE(0, 3);
      if (bytes.length >= length) {
        const packet = bytes.subarray(4, length);
        bytes = bytes.subarray(length);
        return packet;
      }
      if (hasEnded) return undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  /** What came and was not heard is there for others. */
  const stop = () => {
    socket.pause().off('data', take);
    socket.unshift(bytes);
  };
  return { hear, stop };
}
