import { failure } from './impostor.ts';
import { startTcpProxy } from './tcp-proxy.ts';

/** What a server of the MySQL protocol makes of some statements. */
export interface Dialect {
  /** Statements that it refuses, with the error that it gives. */
  readonly refuses: readonly { readonly pattern: RegExp; readonly errno: number; readonly message: string }[];
  /** Variables of a session that it lets nobody change, without a word. */
  readonly ignores: readonly string[];
}

const COM_QUERY = 0x03;
const COM_STMT_PREPARE = 0x16;
const HEADER_BYTES = 4;

/** A way to the server of `url` that speaks a dialect. It notes each text that is sent to be run or prepared. */
export async function startStatementProxy(url: string, { refuses, ignores }: Dialect) {
  const proxy = await startTcpProxy(url);
  const statements = new Set<string>();
  const refusalOf = (sql: string) => refuses.find(({ pattern }) => pattern.test(sql));
  proxy.changeQuestions((bytes) => {
    const sql = textOf(bytes);
    if (sql === undefined) return bytes;
    statements.add(sql);
    if (refusalOf(sql)) return withText(bytes, '?'.repeat(sql.length)); // the server shall do nothing
    const without = ignores.reduce((text, name) => text.replace(assignmentOf(name), blank), sql);
    return /^SET /.test(sql) ? withText(bytes, without) : bytes;
  });
  proxy.changeAnswers((bytes, question) => {
    const refusal = refusalOf(textOf(question) ?? '');
    if (refusal === undefined) return bytes;
    const payload = failure(refusal.errno, '42000', refusal.message);
    return Buffer.concat([Buffer.from([payload.length, payload.length >> 8, 0, 1]), payload]);
  });
  return { url: proxy.url, statements };
}

/** The text of a command; undefined for other packets. Those of these tests come in one piece. */
function textOf(bytes: Buffer): string | undefined {
  const isCommand = bytes[3] === 0 && (bytes[4] === COM_QUERY || bytes[4] === COM_STMT_PREPARE);
  return isCommand ? bytes.toString('latin1', HEADER_BYTES + 1, HEADER_BYTES + bytes.readUIntLE(0, 3)) : undefined;
}

function withText(bytes: Buffer, sql: string): Buffer {
  return Buffer.concat([bytes.subarray(0, HEADER_BYTES + 1), Buffer.from(sql, 'latin1')]);
}

function assignmentOf(name: string): RegExp {
  return new RegExp(`\\b${name} = '\\w+'`);
}

/** An assignment of the same length that changes nothing. */
function blank(assignment: string): string {
  return 'sql_notes = 1'.padEnd(assignment.length);
}
