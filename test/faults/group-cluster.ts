import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type mysql from 'mysql2/promise';
import { eventually } from '../support/load.ts';
import { freePorts } from '../support/ports.ts';
import type { StoredPet } from './ledger.ts';
import { query, storedAt } from './members.ts';

/** A program that runs real Group Replication; its head tells how. It stands beside the repository, or where MYSQL_GROUP says. */
const TOOL = process.env.MYSQL_GROUP ?? join(import.meta.dirname, '../../../shared/tools/mysql-group');

/** The members' ports beside the first one's own, and those that the group itself uses. */
const PORTS = [0, 1, 2, 100, 101, 102];

/** Three members of MySQL Group Replication on loopback, one of which takes writes. */
export interface GroupCluster {
  /** The address of all members, the primary first or last. */
  url(primary: 'first' | 'last'): Promise<string>;
  /** Kills the primary; resolves when another one has been elected and takes writes. */
  killPrimary(): Promise<void>;
  /** Starts the member that was killed again; resolves when it is ONLINE. */
  joinAgain(): Promise<void>;
  /** The animals of each member that is up, once it has all that the group has. */
  contents(): Promise<StoredPet[][]>;
  remove(): Promise<void>;
}

/** Whether the program is there. */
export function hasGroup(): boolean {
  return existsSync(TOOL);
}

/** Starts the group. What the program downloads at its first start is kept in the system's folder for temporary files. */
export async function startGroupCluster(): Promise<GroupCluster> {
  const folder = join(tmpdir(), 'petstore-mysql-group');
  const tool = (command: string, ...words: string[]) => promisify(execFile)('bash', [TOOL, command, folder, ...words]);
  const first = await freePorts(PORTS);
  const start = () => tool('start', String(first));
  await start().catch(start); // what it downloads at its first start may fail once
  const ports = [first, first + 1, first + 2];
  let killed: number | undefined;
  const living = () => ports.filter((port) => port !== killed);
  const primary = async () => {
    for (const port of living()) {
      const [row] = await query<mysql.RowDataPacket[]>(port, 'SELECT @@super_read_only AS refuses').catch(() => []);
      if (row?.refuses === 0) return port;
    }
    return undefined;
  };
  const untilPrimary = () => eventually(primary, 60_000, 'a primary is elected');
  return {
    async url(where) {
      const writable = await untilPrimary();
      const others = ports.filter((port) => port !== writable);
      const ordered = where === 'first' ? [writable, ...others] : [...others, writable];
      return `mysql://pet:pet@${ordered.map((port) => `127.0.0.1:${port}`).join(',')}/petstore`;
    },
    async killPrimary() {
      const port = await untilPrimary();
      await tool('kill', String(port - first + 1));
      killed = port;
      await untilPrimary();
    },
    async joinAgain() {
      if (killed === undefined) throw new Error('no member was killed');
      await tool('join', String(killed - first + 1));
      killed = undefined;
    },
    contents: () => storedAt(living(), "SET SESSION group_replication_consistency = 'BEFORE'"),
    remove: () => tool('stop').then(() => undefined),
  };
}
