import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { means, PERMANENT } from '../mysql-errors/mysql-errors.ts';
import type { MysqlHost } from './mysql-address.ts';
import type { MysqlTarget } from './mysql-connection.ts';
import type { MysqlSession } from './mysql-session.ts';
import { MysqlPoolError } from './pool-error.ts';

/** The Connection Attempt Delay, in ms: then the next address is tried in parallel, https://www.rfc-editor.org/rfc/rfc8305#section-5 */
const STAGGER_MS = 250;

/**
 * Opens sessions on the server that takes writes, as libpq's target_session_attrs=read-write does,
 * https://www.postgresql.org/docs/current/libpq-connect.html. All addresses of all hosts are tried, the last used one first. A lone
 * read-only server is accepted, because no other server has newer writes. Rejects with POOL_NO_WRITER, or with
 * the reason when it is permanent or the only one. A name is looked up within `nameLookupMs`; `open` must settle
 * within a bounded time, too.
 */
export function createWritableHost(
  hosts: readonly MysqlHost[],
  nameLookupMs: number,
  open: (at: MysqlTarget) => Promise<MysqlSession>,
) {
  let lastUsed: string | undefined;
  const lookUp = createNameLookUp(nameLookupMs);
  return async (): Promise<MysqlSession> => {
    const targets = await findTargets(hosts, lookUp);
    // A lone server may have one address of each family (IPv4, IPv6). A host whose name was not found counts as a second server.
    const families = new Set(targets.map(({ address }) => isIP(address)));
    const accepted = hosts.length === 1 && families.size === targets.length ? ['writable', 'read-only'] : ['writable'];
    targets.sort((a, b) => Number(nameOf(b) === lastUsed) - Number(nameOf(a) === lastUsed));

    let isFound = false;
    const attempt = async (target: MysqlTarget): Promise<MysqlSession> => {
      const session = await open(target);
      if (!isFound && accepted.includes(session.role)) {
        isFound = true;
        lastUsed = nameOf(target);
        return session;
      }
      session.connection.end();
      throw new MysqlPoolError('POOL_NO_WRITER', session.role);
    };
    const attempts: Promise<MysqlSession>[] = [];
    for (const target of targets) {
      const last = attempt(target);
      attempts.push(last);
      await Promise.race([last.catch(() => {}), delay(STAGGER_MS, undefined, { ref: false })]);
      if (isFound) break;
    }
    return Promise.any(attempts).catch(({ errors }: AggregateError) => {
      if (errors.length === 1 && errors[0].code !== 'POOL_NO_WRITER') throw errors[0];
      // One permanent refusal is enough for a host: on its other addresses, such as ::1 of localhost, nobody may listen.
      const isRefusing = ({ host, port }: MysqlHost) =>
        targets.some((target, index) => target.host === host && target.port === port && isPermanent(errors[index]));
      if (hosts.every(isRefusing)) throw errors.find(isPermanent);
      const answers = targets.map(
        (target, index) => `${nameOf(target)} ${errors[index].message || errors[index].name}`,
      );
      throw new MysqlPoolError('POOL_NO_WRITER', `no server takes writes: ${answers.join('; ')}`, errors[0]);
    });
  };
}

function isPermanent(error: unknown): boolean {
  return means(error, ...PERMANENT);
}

function nameOf({ address, port }: MysqlTarget): string {
  return `${address}:${port}`;
}

type LookUp = (host: MysqlHost) => Promise<MysqlTarget[]>;

/** All addresses of all hosts, in their order; rejects when no name was found. */
async function findTargets(hosts: readonly MysqlHost[], lookUp: LookUp): Promise<MysqlTarget[]> {
  const found = await Promise.allSettled(hosts.map(lookUp));
  const targets = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const failed = found.find((each) => each.status === 'rejected');
  if (targets.length === 0 && failed) throw failed.reason;
  return targets;
}

function createNameLookUp(limitMs: number): LookUp {
  // Shared, because Node cannot end one: those that were given up would wait for the few threads that files need, too,
  // https://nodejs.org/docs/latest-v24.x/api/dns.html#dnslookup
  const inFlight = new Map<string, Promise<LookupAddress[]>>();
  return async ({ host, port }) => {
    if (isIP(host) !== 0) return [{ host, address: host, port }];
    const found = inFlight.get(host) ?? lookup(host, { all: true }).finally(() => inFlight.delete(host));
    inFlight.set(host, found);
    const late = delay(limitMs, undefined, { ref: false }).then(() => {
      throw new MysqlPoolError('POOL_TIMEOUT', `the name ${host} could not be looked up in time`);
    });
    const addresses = await Promise.race([found, late]);
    return addresses.map(({ address }) => ({ host, address, port }));
  };
}
