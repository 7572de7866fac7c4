import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Serves a request whose turn has come. */
type Turn = () => void;

/** Asked a tick later, because Node resumes a connection whenever a request has come, or has been answered. */
function pause(socket: Socket): void {
  socket.pause();
}

/**
 * Serves the requests of a connection one after the other, in the order that their answers must have (RFC 9112 §9.3.2), and
 * reads no further ones while some wait. One packet may hold thousands: begun all at once they would keep everybody else
 * waiting, and one client's would refuse each other their places.
 */
export function oneAtATime(serve: RequestListener): RequestListener {
  const lines = new WeakMap<Socket, Turn[]>();

  const begin = (line: Turn[], request: IncomingMessage, answer: ServerResponse): void => {
    answer.once('close', () => process.nextTick(goOn, line, request.socket));
    if (!answer.headersSent) serve(request, answer); // else its body was refused while it waited
  };

  const goOn = (line: Turn[], socket: Socket): void => {
    if (line.length > 0) {
      socket.pause();
      setImmediate(() => line.shift()?.()); // after the other connections
    } else {
      lines.delete(socket);
      socket.resume();
    }
  };

  return (request, answer) => {
    const { socket } = request;
    const line = lines.get(socket);
    if (line !== undefined) {
      line.push(() => begin(line, request, answer));
      process.nextTick(pause, socket);
      return;
    }
    const own: Turn[] = [];
    lines.set(socket, own);
    begin(own, request, answer);
  };
}
