/*
 * A network between a server and its database, as a process of its own: node bench/network.ts PORT DELAY_MS LATE_EVERY LATE_MS
 * listens on a free port, which it prints, and leads to PORT. What is sent arrives DELAY_MS later in either direction, as on
 * a long way: nothing is throttled. A timer waits a millisecond at least, so a DELAY_MS of 0 is 1. Each LATE_EVERYth piece of
 * TCP from the database is LATE_MS late besides (0: none); an answer may be of several.
 */
import { connect, createServer, type Socket } from 'node:net';

const [target = 0, delayMs = 0, lateEvery = 0, lateMs = 0] = process.argv.slice(2).map(Number);
let pieces = 0;

const server = createServer({ noDelay: true }, (client) => {
  const database = connect({ port: target, host: '127.0.0.1', noDelay: true });
  carry(client, database, () => delayMs);
  carry(database, client, () => delayMs + (lateEvery > 0 && ++pieces % lateEvery === 0 ? lateMs : 0));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' && address !== null ? address.port : 0);
});

/** Hands on what one side says, each piece when its time has come and none before an earlier one. */
function carry(from: Socket, to: Socket, waitMs: () => number): void {
  let arrivesAt = 0;
  from.on('data', (piece) => {
    arrivesAt = Math.max(arrivesAt, performance.now() + waitMs());
    setTimeout(() => to.write(piece), Math.max(0, arrivesAt - performance.now()));
  });
  from.on('close', () => to.destroy());
  from.on('error', () => to.destroy());
}
