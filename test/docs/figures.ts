import packageJson from '../../package.json' with { type: 'json' };
import { readConfig } from '../../src/gateway/config.ts';
import { REQUEST_MS } from '../../src/gateway/deadlines.ts';
import { limitsByType } from '../../src/gateway/graphql/cost.ts';
import { LIMITS } from '../../src/gateway/graphql/limits.ts';
import { LIST_LIMIT } from '../../src/gateway/schema/builder.ts';
import { ANSWER_BYTES_MAX, IDEMPOTENCY_KEY } from '../../src/gateway/schema/context.ts';
import { PREPARED_MAX } from '../../src/lib/mysql-pool/mysql-pool.ts';
import { CONNECTION_BYTES } from '../../src/lib/ordered-http/ordered-http.ts';
import { SCHEMA } from '../support/petstore-api.ts';
import { boundsOf, constantIn } from './constants.ts';

const CONFIG = readConfig({});
const [, YOUNG_MIB = ''] = /semi-space-size=(\d+)/.exec(packageJson.scripts.start) ?? [];
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const MIB = 2 ** 20;
const ANSWERED_S = REQUEST_MS / SECOND + 0.5; // the promise has room to write and send what was decided at the deadline
const KEY_MAX = Number(/\{1,(\d+)\}/.exec(IDEMPOTENCY_KEY.pattern.source)?.[1]);
const REPLAY_H = constantIn('idempotency-records.ts', 'REPLAY_MS') / HOUR;
const KEY_CACHE_S = constantIn('deadlines.ts', 'KEY_CACHE_MS') / SECOND;
const WAIT_S = constantIn('deadlines.ts', 'SHARE_WAIT_MS') / SECOND;
const LEAST_BODIES = constantIn('admission.ts', 'LEAST_BODIES');
const IN_FLIGHT = constantIn('admission.ts', 'inFlight') / 2; // a key has as much as it leaves free
const HEADERS_S = constantIn('deadlines.ts', 'HEADERS_MS') / SECOND;
const REQUEST_S = constantIn('deadlines.ts', 'RECEIVE_MS') / SECOND;
const STALLED_S = constantIn('deadlines.ts', 'STALLED_MS') / SECOND;

const [ANIMALS] = [...limitsByType(SCHEMA).values()].filter(({ plural }) => plural === 'animals');
const ANIMALS_MOST = ANIMALS?.maxObjects ?? Number.NaN;

const README = 'README.md';
const ERRORS = 'docs/errors.md';
const RUN = 'docs/run.md';
const UPGRADE = 'docs/upgrade.md';
const DATABASES = 'docs/databases.md';
/** What starts Node, or says how. */
const STARTS = ['Dockerfile', 'deploy/petstore-gateway.service', 'bench/server.ts', RUN];

/** What documents say by figures: the sentence, where `#` stands for each of them, and what the code has. */
type Row = readonly [documents: string | readonly string[], sentence: string, ...figures: (number | string)[]];

/** Every figure of the documents that the code decides, but for those of docs/decisions: a decision is of its day. */
export const QUOTATIONS: readonly Row[] = [
  // Settings.
  [README, '| `HOST` / `PORT` | `#` / `#` |', CONFIG.host, CONFIG.port],
  [README, '| `DATABASE_URL` | `#` |', CONFIG.databaseUrl],
  [README, '| `DATABASE_POOL_MAX` | `#` |', CONFIG.databasePoolMax],
  [README, '| connections per process, # to #', ...boundsOf('DATABASE_POOL_MAX')],
  [README, '| `BODY_LIMIT` | `#` |', CONFIG.bodyLimitBytes],
  [README, '| bytes of a request body, # to # |', ...boundsOf('BODY_LIMIT')],
  [README, 'windows of # hours at most', constantIn('config.ts', 'WINDOW_MAX_S') / 3600],
  [RUN, 'seconds, minutes or hours, # hours at most', constantIn('config.ts', 'WINDOW_MAX_S') / 3600],
  [README, '| `WORKERS` | `#` | server processes, # to #', CONFIG.workers, ...boundsOf('WORKERS')],
  [README, '| `LOG_LEVEL` | `#` |', CONFIG.logLevel],
  [README, '| `MIGRATE_ON_START` | `#` |', String(CONFIG.migrateOnStart)],
  [README, '| `GRAPHIQL` | `#` |', String(CONFIG.graphiql)],
  [README, '| `SAMPLE_DATA` | `#` | # animals', String(CONFIG.sampleData), constantIn('store.ts', 'SAMPLES')],
  [README, 'makes an SQLite file with # animals', constantIn('store.ts', 'SAMPLES')],
  [README, '| `SHUTDOWN_GRACE_MS` | `#` |', CONFIG.shutdownGraceMs],
  [README, 'may take after SIGTERM, at most # |', ...boundsOf('SHUTDOWN_GRACE_MS').slice(1)],
  [ERRORS, 'The body must not be larger than # bytes.', CONFIG.bodyLimitBytes],
  [[RUN, ERRORS], '# JSON values', constantIn('json-body.ts', 'VALUES_MAX')],
  [RUN, 'a page of more than # MiB is refused', ANSWER_BYTES_MAX / MIB],
  [RUN, 'The heap must have # times the limit', LEAST_BODIES * constantIn('admission.ts', 'HEAP_PART')],
  [RUN, 'a container # times for each worker', LEAST_BODIES * constantIn('admission.ts', 'CONTAINER_PART')],
  [RUN, 'MB at # MiB', Number(boundsOf('BODY_LIMIT')[1]) / MIB],
  // Lists.
  [README, '`limit` is # to #, by default #.', LIST_LIMIT.min, LIST_LIMIT.max, LIST_LIMIT.defaultValue],
  [ERRORS, 'limit=0 is not allowed: an integer from # to #.', LIST_LIMIT.min, LIST_LIMIT.max],
  [ERRORS, 'limit must be an integer from # to #', LIST_LIMIT.min, LIST_LIMIT.max],
  [ERRORS, 'would be larger than # bytes: ask for a smaller limit', ANSWER_BYTES_MAX],
  // GraphQL.
  [README, '| size of the document | # bytes |', LIMITS.documentBytes.max],
  [ERRORS, 'document is larger than # bytes', LIMITS.documentBytes.max],
  [README, '| tokens | # |', LIMITS.tokens.max],
  [ERRORS, 'more than # tokens', LIMITS.tokens.max],
  [README, '| levels of fields | # |', LIMITS.depth.max],
  [ERRORS, '| more than # levels of fields |', LIMITS.depth.max],
  [ERRORS, 'nests fields more than # levels deep', LIMITS.depth.max],
  [README, '| aliases | # |', LIMITS.aliases.max],
  [ERRORS, 'more than # aliases', LIMITS.aliases.max],
  [README, '| aliases below `__schema` and `__type` | # |', LIMITS.introspectionAliases.max],
  [README, 'animals to read or write (a list counts its `limit` or `first`) | # |', ANIMALS_MOST],
  [README, '| values of these animals | those of # animals with all their fields and `__typename` |', ANIMALS_MOST],
  [ERRORS, 'more than # animals, or', ANIMALS_MOST],
  [ERRORS, 'more values than # animals with all their fields and `__typename`', ANIMALS_MOST],
  [README, '| fields of an operation, those of a fragment wherever it is spread | # |', LIMITS.fields.max],
  [ERRORS, 'The operation has more than # fields', LIMITS.fields.max],
  [README, '| size of the answer | # MiB |', LIMITS.responseBytes.max / MIB],
  [ERRORS, 'the answer would be larger than # MiB', LIMITS.responseBytes.max / MIB],
  [ERRORS, 'The answer would be larger than # bytes', LIMITS.responseBytes.max],
  [ERRORS, 'at most # errors of validation', constantIn('documents.ts', 'ERRORS_MAX')],
  [ERRORS, 'or # of variables', constantIn('execution.ts', 'ERRORS_MAX')],
  [ERRORS, 'has at most # characters,', constantIn('error-masking.ts', 'MESSAGE_MAX')],
  [ERRORS, 'characters, # of them quoted', constantIn('masking.ts', 'QUOTED_MAX')],
  [ERRORS, 'documents of up to # characters', constantIn('documents.ts', 'LOCATED_MAX')],
  // Keys and their shares.
  [README, 'after the grace, by default # hours', constantIn('keys.ts', 'GRACE')],
  ['ARCHITECTURE.md', '# seconds of key cache', KEY_CACHE_S],
  [RUN, 'one key may have # requests in flight', IN_FLIGHT],
  [RUN, 'Further requests wait, # s at most', WAIT_S],
  [[RUN, 'deploy/petstore-gateway.service'], 'one for each # kB of the heap', CONNECTION_BYTES / 1024],
  [RUN, 'the container, # MB at most', constantIn('admission.ts', 'BYTES_MAX') / MIB],
  [ERRORS, 'these have waited for # s', WAIT_S],
  [RUN, 'at most # look-ups', constantIn('authenticator.ts', 'LOOKUPS_MAX')],
  [RUN, 'only when more than # look-ups wait', constantIn('authenticator.ts', 'WAITING_MAX')],
  [ERRORS, 'more than # look-ups of keys wait', constantIn('authenticator.ts', 'WAITING_MAX')],
  [RUN, 'event loop is # ms late', constantIn('deadlines.ts', 'LAG_LIMIT_MS')],
  // Retries.
  [README, 'makes its retries safe for # hours', REPLAY_H],
  [ERRORS, 'Keys are remembered for # hours', REPLAY_H],
  ['docs/clients.md', 'remembered for # hours', REPLAY_H],
  [UPGRADE, 'older than # hours are removed every # minutes', REPLAY_H, constantIn('gateway.ts', 'SWEEP_MS') / MINUTE],
  [ERRORS, 'Idempotency-Key must be 1 to # visible', KEY_MAX],
  // Limits of time.
  [RUN, '| the header of a request | # s |', HEADERS_S],
  [RUN, '| a whole request | # s |', REQUEST_S],
  [ERRORS, 'a header that takes more than # s, a request that takes more than # s', HEADERS_S, REQUEST_S],
  [RUN, "| an answer, from the request's last byte on | # s,", ANSWERED_S],
  [RUN, "the gateway answers within # s of a request's last byte", ANSWERED_S],
  [RUN, 'does not read the answer | # to # s,', STALLED_S, 2 * STALLED_S],
  [RUN, '| an idle connection | # s |', constantIn('deadlines.ts', 'KEEP_ALIVE_MS') / SECOND],
  [RUN, 'a gateway that stops closes them after # s', constantIn('deadlines.ts', 'DRAIN_MS') / SECOND],
  [RUN, "wait for another process's migration | # s |", constantIn('deadlines.ts', 'MIGRATION_LOCK_MS') / SECOND],
  [RUN, 'then twice as long each time, # s at most', constantIn('workers.ts', 'BACK_OFF_MAX_MS') / SECOND],
  [DATABASES, 'prepares the texts that it uses, # at most', PREPARED_MAX],
  [DATABASES, 'machines × # should fit', PREPARED_MAX],
  [STARTS, '--max-semi-space-size=#', YOUNG_MIB],
  [DATABASES, 'A request has one deadline, # s after its last byte', REQUEST_MS / SECOND],
  [DATABASES, 'when it was not asked for # s', constantIn('deadlines.ts', 'ROLE_MAX_AGE_MS') / SECOND],
  [DATABASES, 'A connection lives # minutes', constantIn('session-pool.ts', 'LIFETIME_MS') / MINUTE],
  [DATABASES, 'that has been idle for # s', constantIn('session-pool.ts', 'IDLE_MS') / SECOND],
  [DATABASES, 'share one statement of at most # KiB', constantIn('entries.ts', 'BATCH_BYTES') / 1024],
  ['docs/watch.md', 'Paths are cut at # characters', constantIn('request-log.ts', 'PATH_MAX')],
];
