import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that a system gives to clients: no connection of theirs holds one of these, open or just ended. */
const LOWEST = 10_000;
const HIGHEST = 32_000;
/** More draws than a machine with free ports needs. */
const DRAWS = 1000;

/** What this process has tried. */
const drawn = new Set<number>();

/** A TCP port of the loopback interface that nobody listens on, and that nobody else is given. */
export function freePort(): Promise<number> {
  return freePorts([0]);
}

/** A port that is free with all that stand so far above it; each offset gives one of them. */
export async function freePorts(offsets: readonly number[]): Promise<number> {
  for (let draw = 0; draw < DRAWS; draw++) {
    const first = randomInt(LOWEST, HIGHEST - Math.max(...offsets));
    const ports = offsets.map((offset) => first + offset);
    if (ports.some((port) => drawn.has(port))) continue;
    for (const port of ports) drawn.add(port);
    if ((await Promise.all(ports.map(async (port) => (await claim(port)) && isFree(port)))).every(Boolean))
      return first;
  }
  throw new Error('no free port was found');
}

/**
 * Whether no other process has drawn this port, which may listen on it much later. The claim is a name without a file, unix(7); it ends
 * with this process. Only Linux has them.
 */
async function claim(port: number): Promise<boolean> {
  const server = createServer().unref();
  try {
    if (process.platform === 'linux') await once(server.listen(`\0petstore-port-${port}`), 'listening');
  } catch {
    return false;
  }
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
