import { connect, createServer, type Socket } from 'node:net';
import { afterFile } from './engines.ts';
import { listenOnFreePort } from './served-app.ts';

/** A way through the network. */
export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

/** What a client gets in place of a part of an answer: `question` is what it sent last, `count` the parts before this one. */
export type ChangeAnswer = (bytes: Buffer, question: Buffer, count: number) => Buffer;

/** Starts a way to the server of `url` that ends after the test file. */
export async function startTcpProxy(url: string) {
  const own = new URL(url);
  const way = {
    targets: [Number(own.port)] as readonly number[],
    generation: 0,
    swallowed: undefined as RegExp | undefined,
    delayMs: 0,
    change: ((bytes) => bytes) as ChangeAnswer,
    changeQuestion: (bytes: Buffer) => bytes,
  };
  let opened = 0;
  const sockets = new Set<Socket>();
  const silent = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const born = way.generation;
    let isSilent = false;
    client.on('close', () => silent.delete(client));
    let question: Buffer = Buffer.alloc(0);
    let answers = 0;
    const upstream = connect({
      port: way.targets[opened++ % way.targets.length] ?? 0,
      host: '127.0.0.1',
      noDelay: true,
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        if (born === way.generation) other.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (born !== way.generation) return;
      question = bytes;
      isSilent ||= way.swallowed?.test(bytes.toString('latin1')) ?? false;
      if (isSilent) silent.add(client);
      const changed = way.changeQuestion(bytes);
      if (upstream.writable && born === way.generation) upstream.write(changed);
    });
    upstream.on('data', (bytes) => {
      const count = answers++;
      const pass = () =>
        born === way.generation && !isSilent && client.writable && client.write(way.change(bytes, question, count));
      if (way.delayMs === 0) pass();
      else setTimeout(pass, way.delayMs);
    });
  });
  const port = await listenOnFreePort(server);
  own.port = String(port);
  /** Cuts every open connection. */
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  afterFile(cut);
  return {
    /** The address of the server, by way of this proxy. */
    url: own.href,
    port,
    /** From now on new connections lead there; those that are open stay where they are. */
    move: (next: number) => void Object.assign(way, { targets: [next] }),
    /** From now on each new connection leads to the next of these. */
    spread: (targets: readonly number[]) => void Object.assign(way, { targets }),
    /** Drops what comes from now on, without a word, on every connection that is open; new ones work. */
    loseOpenOnes: () => void way.generation++,
    /** Drops, without a word, the answers to what matches; undefined drops none. */
    swallowAnswersTo: (swallowed: RegExp | undefined) => void Object.assign(way, { swallowed }),
    /** Whether an open connection is one whose answers are dropped. */
    hasSwallowed: () => silent.size > 0,
    /** Lets each answer wait, in ms. */
    delayAnswers: (delayMs: number) => void Object.assign(way, { delayMs }),
    /** Gives other bytes in place of each part of an answer; undefined: gives them as they are. */
    changeAnswers: (change: ChangeAnswer = (bytes) => bytes) => void Object.assign(way, { change }),
    /** Gives the server other bytes in place of each part of a question; undefined: gives them as they are. */
    changeQuestions: (changeQuestion = (bytes: Buffer) => bytes) => void Object.assign(way, { changeQuestion }),
    cut,
  };
}
