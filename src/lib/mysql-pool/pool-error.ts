import { type Meaning, partsOf } from '../mysql-errors/mysql-errors.ts';

/** What the errors of the pool mean, by their codes. */
const MEANINGS = {
  POOL_ADDRESS: [], // the text is no address
  POOL_CLOSED: [],
  POOL_NO_WRITER: ['noWriter'],
  POOL_NOT_COMMITTED: [], // a transaction was rolled back by closing its connection
  POOL_NOT_KEPT: ['rowRefused'], // a trigger or a type changes it
  POOL_NOT_UNDERSTOOD: ['unknownOutcome'],
  POOL_ONE_ROW: ['rowRefused'], // a single row would be taken
  POOL_PLUGIN: ['accessDenied'],
  POOL_SETTING_REFUSED: ['unusable'],
  POOL_TIMEOUT: [],
  POOL_TRUST: ['untrusted'],
} as const satisfies Readonly<Record<string, readonly Meaning[]>>;

/** An error of the pool itself. Errors of mysql2, the server and the network are passed on as they are. */
export class MysqlPoolError extends Error {
  override readonly name = 'MysqlPoolError';
  readonly code: keyof typeof MEANINGS;

  constructor(code: keyof typeof MEANINGS, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }

  /** What it means; `meaningsOf` in mysql-errors gives it, too. */
  get meanings(): readonly Meaning[] {
    return MEANINGS[this.code];
  }
}

/** Whether an error was reported by the server or the pool. Otherwise the driver could not parse an answer. */
export function isUnderstood(error: unknown): boolean {
  const { fatal, sqlState = '' } = partsOf(error);
  return error instanceof MysqlPoolError || fatal === true || sqlState !== '';
}

/** Marks an error as one that ends its connection, as mysql2 marks its own. */
export function asFatal(error: unknown): Error {
  return Object.assign(error as Error, { fatal: true }); // mysql2 and the pool throw Errors
}
