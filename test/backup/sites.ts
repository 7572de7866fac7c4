import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { inject } from 'vitest';
import { afterFile, type TestEngine, temporaryFolder } from '../support/engines.ts';
import { readBlock, runBlock } from '../support/page-blocks.ts';
import { noteLeftOut } from '../support/tools.ts';
import { ROOT } from '../support/tracked-files.ts';

/** Whose programs make a backup and restore it. */
export type Programs = 'Node' | 'MySQL' | 'MariaDB';

/** A database that is backed up by the blocks of docs/upgrade.md, and another one that they make of it. */
export interface Site {
  /** Where the blocks run, and leave the file of the backup. */
  readonly folder: string;
  readonly file: 'backup.sqlite' | 'backup.sql';
  /** As the gateway's account knows them. */
  readonly sourceUrl: string;
  readonly restoredUrl: string;
  readonly backUp: (before?: string, env?: Record<string, string>) => ReturnType<typeof runBlock>;
  readonly restore: (before?: string) => ReturnType<typeof runBlock>;
}

const PAGE = 'docs/upgrade.md';
/** It needs the quotation marks of an option file. */
const PASSWORD = `p #;'=ä`;
/** What docs/databases.md tells to give to the gateway's account. */
const RIGHTS = 'SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES';

/** A site of the engine. Calls `skip` when there can be none here; on CI the programs of the server's own maker must be there. */
export async function openSite(engine: TestEngine, programs: Programs, skip: (note: string) => never): Promise<Site> {
  return programs === 'Node' ? embeddedSite() : serverSite(engine, programs, skip);
}

function embeddedSite(): Site {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'data'));
  symlinkSync(join(ROOT, 'deploy'), join(folder, 'deploy'));
  const url = `sqlite:${join(folder, 'data/petstore.sqlite')}`;
  return {
    folder,
    file: 'backup.sqlite',
    sourceUrl: url,
    restoredUrl: url,
    backUp: (before = '', env = {}) => runBlock(`${before}\n${readBlock(PAGE, 'bash sqlite-backup')}`, folder, env),
    restore: (before = '') => runBlock(`${before}\n${readBlock(PAGE, 'bash sqlite-restore')}`, folder),
  };
}

async function serverSite(engine: TestEngine, programs: Programs, skip: (note: string) => never): Promise<Site> {
  const administrator = new URL(inject('mysqlUrl'));
  const connection = await mysql.createConnection(administrator.href);
  afterFile(() => connection.end());
  const [[{ version }]] = await connection.query<any>('SELECT VERSION() AS version'); // one row
  const maker: Programs = version.includes('MariaDB') ? 'MariaDB' : 'MySQL';
  if (programs === 'MySQL' && maker === 'MariaDB') skip('MariaDB has its own programs');
  const dump = programs === 'MySQL' ? 'mysqldump' : 'mariadb-dump';
  const isMissing = makerOf(dump) !== programs;
  if (isMissing && programs === maker) noteLeftOut(`the backup by ${dump}`, `the programs of ${programs}`);
  if (isMissing && (programs !== maker || process.env.CI !== 'true')) skip(`there is no ${dump} of ${programs}`);

  const database = new URL(await engine.freshDatabase()).pathname.slice(1);
  if (database === administrator.pathname.slice(1)) skip('the account of TEST_MYSQL_URL may make no database');
  const restored = `${database}_restored`;
  const account = `b${database.slice(-20)}`;
  await connection.query(`CREATE USER '${account}'@'%' IDENTIFIED BY ?`, [PASSWORD]);
  await connection.query(`GRANT ${RIGHTS} ON ${database}.* TO '${account}'@'%'`);
  afterFile(async () => {
    await connection.query(`DROP USER '${account}'@'%'`);
    await connection.query(`DROP DATABASE IF EXISTS ${restored}`);
  });

  const folder = temporaryFolder();
  const { hostname, port, username, password } = administrator;
  const example = readBlock(PAGE, 'ini backup.cnf');
  const write = (name: string, user: string, secret: string) => {
    const values = { 'db.example.com': hostname, 3306: port, petstore: user, '…': secret };
    const text = Object.entries(values).reduce((all, [from, to]) => all.replace(from, to), example);
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  };
  write('backup.cnf', account, PASSWORD);
  write('admin.cnf', decodeURIComponent(username), decodeURIComponent(password));
  const env = { DB: database, NEW_DB: restored, APP: `'${account}'@'%'` };
  const backup = readBlock(PAGE, `bash ${programs.toLowerCase()}-backup`);
  const restore = readBlock(PAGE, 'bash mysql-restore');
  const urlOf = (name: string) => `mysql://${account}:${encodeURIComponent(PASSWORD)}@${hostname}:${port}/${name}`;
  return {
    folder,
    file: 'backup.sql',
    sourceUrl: urlOf(database),
    restoredUrl: urlOf(restored),
    backUp: (before = '', more = {}) => runBlock(`${before}\n${backup}`, folder, { ...env, ...more }),
    restore: (before = '') => {
      const block = programs === 'MySQL' ? restore : restore.replaceAll(/^ *mysql /gm, 'mariadb ');
      return runBlock(`${before}\n${block}`, folder, env);
    },
  };
}

/** Who made a program: on Debian the names of MySQL may lead to MariaDB's. */
function makerOf(program: string): Programs | undefined {
  try {
    return execFileSync(program, ['--version'], { encoding: 'utf8' }).includes('MariaDB') ? 'MariaDB' : 'MySQL';
  } catch {
    return undefined;
  }
}
