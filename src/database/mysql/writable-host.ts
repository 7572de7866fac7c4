import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { NAME_LOOKUP_MS } from '../../deadlines.ts';
import { poolError } from '../pool-error.ts';
import { endConnection, type MysqlTarget } from './mysql-connection.ts';
import type { MysqlSession } from './mysql-session.ts';
import type { MysqlHost } from './mysql-url.ts';

/** The next server is asked beside one that is silent for so long, in ms, https://www.rfc-editor.org/rfc/rfc8305#section-5 */
const STAGGER_MS = 250;

/** Opens a session at one address; rejects within a bounded time. */
type OpenAt = (target: MysqlTarget) => Promise<MysqlSession>;

/**
 * Opens sessions on the server that takes writes, of all addresses of all hosts; that of the last session first. As
 * libpq's target_session_attrs=read-write, https://www.postgresql.org/docs/current/libpq-connect.html. A server that is
 * the only one is taken although it is read-only: nobody else can have acknowledged a write that it lacks. Of several,
 * none is: it could have missed some. Rejects when there is none.
 */
export function createWritableHost(hosts: readonly MysqlHost[], openAt: OpenAt): () => Promise<MysqlSession> {
  let chosen: string | undefined;
  let search: Promise<MysqlSession> | undefined;

  const tryChosen = async (targets: readonly MysqlTarget[]): Promise<MysqlSession | undefined> => {
    const target = targets.find((each) => nameOf(each) === chosen);
    if (target === undefined) return undefined;
    const session = await openAt(target).catch(() => undefined);
    if (session?.role === 'writable') return session;
    if (session) endConnection(session.connection);
    if (chosen === nameOf(target)) chosen = undefined;
    return undefined;
  };

  const searchAll = async (targets: readonly MysqlTarget[], isOnlyServer: boolean): Promise<MysqlSession> => {
    const { target, session } = await findWriter(targets, isOnlyServer, openAt);
    chosen = nameOf(target);
    return session;
  };

  return async () => {
    const targets = await findTargets(hosts);
    const [only] = targets;
    // A name that is not found may be the one of the server that takes writes: what is left is no lone server.
    const isOnlyServer = hosts.length === 1 && isOnePerFamily(targets);
    if (only !== undefined && targets.length === 1 && isOnlyServer) return acceptLone(await openAt(only));
    const known = await tryChosen(targets);
    if (known) return known;
    if (search === undefined) {
      search = searchAll(targets, isOnlyServer).finally(() => {
        search = undefined;
      });
      return search;
    }
    await search; // another opening's; a server is asked once for all
    const found = await tryChosen(targets);
    if (found) return found;
    throw poolError('POOL_NO_WRITER', 'the server that took writes is gone');
  };
}

function acceptLone(session: MysqlSession): MysqlSession {
  if (session.role !== 'not ready') return session;
  endConnection(session.connection);
  throw poolError('POOL_NO_WRITER', 'the server is no working member of its cluster');
}

/** One server may have an address of each family. */
function isOnePerFamily(targets: readonly MysqlTarget[]): boolean {
  return new Set(targets.map(({ address }) => address.includes(':'))).size === targets.length;
}

/** A server and a session on it. */
interface Found {
  readonly target: MysqlTarget;
  readonly session: MysqlSession;
}

/** Asks all, each a little after the one before it, or at once when that one has refused; the first that takes writes wins. */
async function findWriter(targets: readonly MysqlTarget[], isOnlyServer: boolean, openAt: OpenAt): Promise<Found> {
  let winner: Found | undefined;
  let fallback: Found | undefined;
  const attempt = async (target: MysqlTarget): Promise<Found> => {
    const found: Found = { target, session: await openAt(target) };
    const { role, connection } = found.session;
    if (role === 'writable' && !winner) {
      winner = found;
      return found;
    }
    if (role === 'read-only' && isOnlyServer && !winner && !fallback) fallback = found;
    else endConnection(connection);
    throw new Error(role);
  };
  const attempts: Promise<Found>[] = [];
  for (const target of targets) {
    const one = attempt(target);
    attempts.push(one);
    await Promise.race([one.catch(() => {}), delay(STAGGER_MS)]);
    if (winner) break;
  }
  try {
    const found = await Promise.any(attempts);
    if (fallback) endConnection(fallback.session.connection);
    return found;
  } catch (error) {
    if (fallback) return fallback;
    const { errors } = error as AggregateError; // of Promise.any, in the order of the targets
    const answers = targets.map(
      (target, index) => `${nameOf(target)} ${errors[index]?.message || errors[index]?.name}`,
    );
    throw poolError('POOL_NO_WRITER', `no server takes writes: ${answers.join('; ')}`, errors[0]);
  }
}

function nameOf({ address, port }: MysqlTarget): string {
  return `${address}:${port}`;
}

/** Every address of every host, in their order; rejects when no name is known. */
async function findTargets(hosts: readonly MysqlHost[]): Promise<MysqlTarget[]> {
  const found = await Promise.allSettled(hosts.map(lookUp));
  const targets = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const failed = found.find((each) => each.status === 'rejected');
  if (targets.length === 0 && failed) throw failed.reason;
  return targets;
}

async function lookUp({ host, port }: MysqlHost): Promise<MysqlTarget[]> {
  if (isIP(host) !== 0) return [{ host, address: host, port }];
  const late = delay(NAME_LOOKUP_MS, undefined, { ref: false }).then(() => {
    throw poolError('POOL_TIMEOUT', `the name ${host} could not be looked up in time`);
  });
  const addresses = await Promise.race([lookup(host, { all: true }), late]);
  return addresses.map(({ address }) => ({ host, address, port }));
}
