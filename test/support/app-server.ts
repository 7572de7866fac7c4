import mysql from 'mysql2/promise';
import { afterFile, type TestEngine } from './engines.ts';
import { killSessions, startMysqlServer } from './mysql-server.ts';

/** A private server with an empty database, and an account of the gateway that may use it and no more; until the test file ends. */
export type AppServer = Awaited<ReturnType<typeof startAppServer>>;

/** Starts one; `args` are added to its command line. */
export async function startAppServer(args: readonly string[] = []) {
  const server = await startMysqlServer(args);
  afterFile(server.remove);
  const root = await mysql.createConnection({ uri: server.url, multipleStatements: true });
  afterFile(() => root.end());
  await root.query(
    "CREATE DATABASE petstore; CREATE USER app@'%' IDENTIFIED BY 'S3cret'; GRANT ALL ON petstore.* TO app@'%'",
  );
  const url = `mysql://app:S3cret@127.0.0.1:${server.port}/petstore`;
  const engine: TestEngine = { name: 'mysql', freshDatabase: async () => url };
  /** A server gives a session its rights on a database, and its settings, when it begins: new ones must be opened. */
  const cutAll = () => killSessions(root, 'app');
  return { server, root, url, engine, cutAll };
}
