import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request whose turn has not come. */
interface Waiting {
  /** What it holds in memory, about. */
  readonly bytes: number;
  readonly begin: () => void;
}

/** What waiting requests of all connections may hold together, in bytes, and what those of one may hold in any case. */
const WAITING_BYTES = 32 * 2 ** 20;
const WAITING_LEAST_BYTES = 16_384;

/** What Node makes of a request, of a line of its header, and of what of a body may come with it: in chunks of a byte, or not. */
const REQUEST_BYTES = 2000;
const FIELD_BYTES = 100;
const BODY_BYTES = 65_536;
const CHUNKED_BYTES = 3 * 2 ** 20;

function weigh({ headers, rawHeaders }: IncomingMessage): number {
  const bytes = REQUEST_BYTES + (FIELD_BYTES * rawHeaders.length) / 2;
  if (headers['transfer-encoding'] !== undefined) return bytes + CHUNKED_BYTES;
  return bytes + Math.min(BODY_BYTES, Number(headers['content-length'] ?? 0));
}

/** Asked a tick later, because Node resumes a connection whenever a request has come, or has been answered. */
function pause(socket: Socket): void {
  socket.pause();
}

/**
 * Serves the requests of a connection one after the other, in the order that their answers must have (RFC 9112 §9.3.2), and
 * reads no further ones while some wait. One packet may hold thousands: begun all at once they would keep everybody else
 * waiting, and one client's would refuse each other their places. When those of many connections hold too much memory, the
 * connection that brings one more is cut.
 */
export function oneAtATime(serve: RequestListener): RequestListener {
  const lines = new WeakMap<Socket, Waiting[]>();
  const watched = new WeakSet<Socket>();
  let held = 0;

  const begin = (line: Waiting[], request: IncomingMessage, answer: ServerResponse): void => {
    answer.once('close', () => process.nextTick(goOn, line, request.socket));
    if (!answer.headersSent) serve(request, answer); // else its body was refused while it waited
  };

  const goOn = (line: Waiting[], socket: Socket): void => {
    if (line.length > 0) {
      socket.pause();
      setImmediate(beginNext, line); // after the other connections
    } else {
      lines.delete(socket);
      socket.resume();
    }
  };

  const beginNext = (line: Waiting[]): void => {
    const next = line.shift();
    if (next === undefined) return;
    held -= next.bytes;
    next.begin();
  };

  /** Nobody waits for the answers of a connection that has ended. */
  const forget = (socket: Socket): void => {
    for (const { bytes } of lines.get(socket)?.splice(0) ?? []) held -= bytes;
  };

  const mayWait = (line: readonly Waiting[], bytes: number): boolean =>
    held + bytes <= WAITING_BYTES || (line.length + 1) * bytes <= WAITING_LEAST_BYTES;

  const wait = (line: Waiting[], request: IncomingMessage, answer: ServerResponse): void => {
    const { socket } = request;
    const bytes = weigh(request);
    if (!socket.destroyed && !mayWait(line, bytes)) socket.destroy();
    if (socket.destroyed) return void request.resume(); // what has come of its body goes now, not with the connection
    held += bytes;
    line.push({ bytes, begin: () => begin(line, request, answer) });
    if (!watched.has(socket)) socket.once('close', () => forget(socket));
    watched.add(socket);
    process.nextTick(pause, socket);
  };

  return (request, answer) => {
    const { socket } = request;
    const line = lines.get(socket);
    if (line !== undefined) return wait(line, request, answer);
    const own: Waiting[] = [];
    lines.set(socket, own);
    begin(own, request, answer);
  };
}
