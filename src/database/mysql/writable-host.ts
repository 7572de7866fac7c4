import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ASK_AGAIN_MS, NAME_LOOKUP_MS } from '../../deadlines.ts';
import { poolError } from '../pool-error.ts';
import { endConnection, type MysqlTarget } from './mysql-connection.ts';
import type { MysqlSession } from './mysql-session.ts';
import type { MysqlHost } from './mysql-url.ts';

/** The next server is asked beside one that is silent for so long, in ms, https://www.rfc-editor.org/rfc/rfc8305#section-5 */
const STAGGER_MS = 250;

/** What was found at each address when none would do. */
type Refusals = Map<MysqlTarget, unknown>;

/**
 * Opens sessions on the server that takes writes, of all addresses of all hosts; that of the last session first. As
 * libpq's target_session_attrs=read-write, https://www.postgresql.org/docs/current/libpq-connect.html. A server that is
 * the only one is taken although it is read-only: nobody else can have acknowledged a write that it lacks. Of several,
 * none is: it could have missed some. Rejects when there is none.
 */
export function createWritableHost(
  hosts: readonly MysqlHost[],
  openAt: (target: MysqlTarget) => Promise<MysqlSession>,
): () => Promise<MysqlSession> {
  let chosen: MysqlTarget | undefined;
  let search: Promise<MysqlSession> | undefined;

  const accept = (target: MysqlTarget, session: MysqlSession): MysqlSession => {
    chosen = target;
    return session;
  };

  const tryChosen = async (targets: readonly MysqlTarget[]): Promise<MysqlSession | undefined> => {
    const target = targets.find((each) => chosen && nameOf(each) === nameOf(chosen));
    if (target === undefined) return undefined;
    const session = await openAt(target).catch(() => undefined);
    if (session?.role === 'writable') return session;
    if (session) endConnection(session.connection);
    chosen = undefined;
    return undefined;
  };

  return async () => {
    const targets = await findTargets(hosts);
    const [only] = targets;
    // A name that is not found may be the one of the server that takes writes: what is left is no lone server.
    const isOnlyServer = hosts.length === 1 && isOnePerFamily(targets);
    if (only !== undefined && targets.length === 1 && isOnlyServer) return acceptLone(await openAt(only));
    const known = await tryChosen(targets);
    if (known) return known;
    if (search) {
      const first = await search.then(
        () => undefined,
        (error: unknown) => error,
      );
      const next = first === undefined ? await tryChosen(targets) : undefined;
      if (next === undefined) throw first ?? poolError('POOL_NO_WRITER', 'the server that took writes is gone');
      return next;
    }
    search = searchWriter(targets, isOnlyServer, openAt, accept).finally(() => {
      search = undefined;
    });
    return search;
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

/** Asks all, each a little after the one before it, or at once when that one has refused; the first that takes writes wins. */
async function searchWriter(
  targets: readonly MysqlTarget[],
  isOnlyServer: boolean,
  openAt: (target: MysqlTarget) => Promise<MysqlSession>,
  accept: (target: MysqlTarget, session: MysqlSession) => MysqlSession,
): Promise<MysqlSession> {
  const refusals: Refusals = new Map();
  let fallback: { target: MysqlTarget; session: MysqlSession } | undefined;
  let isFound = false;
  let unheard = targets.length; // servers that have not answered, those not asked yet included
  const allHeard = Promise.withResolvers<void>();
  const attempt = async (target: MysqlTarget, first: Promise<MysqlSession>): Promise<MysqlSession> => {
    let session = await first;
    // It may be the next one to take writes, while another one is silent.
    while (session.role !== 'writable' && !isOnlyServer && !isFound && unheard > 0) {
      endConnection(session.connection);
      await Promise.race([delay(ASK_AGAIN_MS), allHeard.promise]);
      if (isFound || unheard === 0) throw new Error(session.role);
      session = await openAt(target);
    }
    if (session.role === 'writable' && !isFound) {
      isFound = true;
      return accept(target, session);
    }
    if (session.role === 'read-only' && isOnlyServer && !isFound && !fallback) fallback = { target, session };
    else endConnection(session.connection);
    throw new Error(isFound ? 'not needed' : session.role);
  };
  const attempts: Promise<MysqlSession>[] = [];
  for (const target of targets) {
    const first = openAt(target).finally(() => {
      unheard--;
      if (unheard === 0) allHeard.resolve();
    });
    const one = attempt(target, first);
    one.catch((error) => refusals.set(target, error));
    attempts.push(one);
    const isOver = await Promise.race([
      first.then(
        ({ role }) => role === 'writable',
        () => false,
      ),
      delay(STAGGER_MS, false),
    ]);
    if (isOver) break;
  }
  const found = await Promise.any(attempts).catch(() => undefined);
  if (fallback && found) endConnection(fallback.session.connection);
  const session = found ?? (fallback && accept(fallback.target, fallback.session));
  if (session) return session;
  const [refusal] = refusals.values();
  throw poolError('POOL_NO_WRITER', `no server takes writes: ${tell(refusals)}`, refusal);
}

function tell(refusals: Refusals): string {
  return [...refusals]
    .map(([target, error]) => `${nameOf(target)} ${error instanceof Error ? error.message || error.name : error}`)
    .join('; ');
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
