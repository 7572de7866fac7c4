import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterFile } from './engines.ts';

/** What a way through the network may do to what is on it. */
export interface TcpProxy {
  /** The address of the server, by way of this proxy. */
  readonly url: string;
  readonly port: number;
  /** From now on new connections lead there; those that are open stay where they are. */
  move(port: number): void;
  /** From now on each new connection leads to the next of these. */
  spread(ports: readonly number[]): void;
  /** Drops what comes from now on, without a word, on every connection that is open; new ones work. */
  loseOpenOnes(): void;
  /** Drops, without a word, the answers to what matches; undefined drops none. */
  swallowAnswersTo(pattern: RegExp | undefined): void;
  /** Whether an open connection is one whose answers are dropped. */
  hasSwallowed(): boolean;
  /** Lets each answer wait, in ms. */
  delayAnswers(ms: number): void;
  /** Gives other bytes in place of each part of an answer; undefined: gives them as they are. */
  changeAnswers(change: ChangeAnswer | undefined): void;
  /** Gives the server other bytes in place of each part of a question; undefined: gives them as they are. */
  changeQuestions(change: ((bytes: Buffer) => Buffer) | undefined): void;
  /** Cuts every open connection. */
  cut(): void;
}

/** What a client gets in place of a part of an answer: `question` is what it sent last, `count` the parts before this one. */
export type ChangeAnswer = (bytes: Buffer, question: Buffer, count: number) => Buffer;

/** Starts a way to the server of `url` that ends after the test file. */
export async function startTcpProxy(url: string): Promise<TcpProxy> {
  const own = new URL(url);
  let targets: readonly number[] = [Number(own.port)];
  let opened = 0;
  let generation = 0;
  let swallowed: RegExp | undefined;
  let delayMs = 0;
  let change: ChangeAnswer = (bytes) => bytes;
  let changeQuestion = (bytes: Buffer) => bytes;
  const sockets = new Set<Socket>();
  const silent = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const born = generation;
    let isSilent = false;
    client.on('close', () => silent.delete(client));
    let question: Buffer = Buffer.alloc(0);
    let answers = 0;
    const upstream = connect({ port: targets[opened++ % targets.length] ?? 0, host: '127.0.0.1', noDelay: true });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        if (born === generation) other.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (born !== generation) return;
      question = bytes;
      isSilent ||= swallowed?.test(bytes.toString('latin1')) ?? false;
      if (isSilent) silent.add(client);
      const changed = changeQuestion(bytes);
      if (upstream.writable && born === generation) upstream.write(changed);
    });
    upstream.on('data', (bytes) => {
      const count = answers++;
      const pass = () =>
        born === generation && !isSilent && client.writable && client.write(change(bytes, question, count));
      if (delayMs === 0) pass();
      else setTimeout(pass, delayMs);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  own.port = String(port);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  afterFile(() => {
    cut();
    server.close();
  });
  return {
    url: own.href,
    port,
    move(next) {
      targets = [next];
    },
    spread(ports) {
      targets = ports;
    },
    loseOpenOnes() {
      generation++;
    },
    swallowAnswersTo(pattern) {
      swallowed = pattern;
    },
    hasSwallowed: () => silent.size > 0,
    delayAnswers(ms) {
      delayMs = ms;
    },
    changeAnswers(next = (bytes) => bytes) {
      change = next;
    },
    changeQuestions(next = (bytes) => bytes) {
      changeQuestion = next;
    },
    cut,
  };
}
