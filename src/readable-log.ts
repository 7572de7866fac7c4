import type { DestinationStream } from 'pino';

/** What a request's line says in its sentence, or what only programs read. */
const NOT_REPEATED = 'api,operation,method,path,status,ms,requestId,keyId';

/**
 * Where log lines go when people read them: standard output is a terminal, and pino-pretty, a development dependency,
 * is installed. Otherwise undefined, and the lines are JSON.
 */
export async function readableOutput(): Promise<DestinationStream | undefined> {
  if (!process.stdout.isTTY) return undefined;
  const pretty = await import('pino-pretty').catch(() => undefined);
  return pretty?.default({
    ignore: NOT_REPEATED,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    messageFormat: (line, messageKey) => plainText(line.msg === 'request' ? describeRequest(line) : line[messageKey]),
  });
}

function describeRequest({ method, path, status, ms }: Record<string, unknown>): string {
  return `${method} ${path} ${status} in ${ms} ms`;
}

/** Without control characters (Unicode's Cc), which a terminal would obey. */
function plainText(text: unknown): string {
  return String(text ?? '').replaceAll(/\p{Cc}/gu, '�');
}
