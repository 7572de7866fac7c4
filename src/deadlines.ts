// THE table of times that must fit together, in ms, as test/unit/deadlines.test.ts holds them. Other times stand beside their use.

// A request

/** From a request's last byte to its answer. Clients are promised 5.5 s: the rest is for an event loop that is late. */
export const REQUEST_MS = 5000;
/** When the event loop is later than this on average, requests are refused: more would break the promise of 5.5 s. */
export const LAG_LIMIT_MS = 500;
/** Kept of a request's time for writing the answer or the refusal; the database has the rest. */
export const ANSWER_MS = 500;
/** The look-up of a key that a request waits for: afterwards there is time for a write that waits for a lock. */
export const KEY_LOOKUP_MS = 2500;
/** How long a worker waits for the primary's count of a key's requests; afterwards the request passes uncounted. */
export const COUNT_MS = 500;
/** A wait for the key's share of the process: afterwards the key may have to be looked up once more. */
export const SHARE_WAIT_MS = 2000;

// A key

/** How long a key found in the database is cached: a revoked one stops within 5 s, the last request that it lets in included. */
export const BELIEVED_MS = 4000;
/** From this age on a cached key is looked up again beside a request: early, so that no request waits for it. */
export const REFRESHED_MS = 2000;

// A statement

/** A wait for a lock of a row or a table; whole seconds. The server ends it before the deadline, so no write happens later. */
export const LOCK_MS = 2000;
/** After this the server itself ends a statement; its request has been answered by then. */
export const STATEMENT_MS = 5000;
/** With less than this left, no new attempt of what was rolled back: it could not wait for a lock. */
export const ATTEMPT_MS = 2500;
/** A wait of SQLite for another process's write: as long as for a lock. */
export const BUSY_MS = 2000;
/** A wait of an SQLite query for those queued before it: longer than one of them may wait for another process. */
export const ACQUIRE_MS = 2500;

// A connection to a server

/** The look-up of a server's name: afterwards there is time to connect. */
export const NAME_LOOKUP_MS = 2000;
/** From the first packet to a session that is ready: afterwards there is time to write the answer. */
export const CONNECT_MS = 2000;
/** After this the server ends an idle session and rolls its transaction back; the pool closes it before. Whole seconds. */
export const SESSION_IDLE_MS = 50_000;
/** How often a server is asked whether it takes writes, beside the requests. */
export const ROLE_KNOWN_MS = 500;
/** How long its answer may take. */
export const ROLE_LIMIT_MS = 1000;
/** The oldest answer that a request relies on: the last one, while the next one is under way. */
export const ROLE_TRUSTED_MS = 1500;

// Work outside of requests, such as a migration

/** The whole of it: an hour. */
export const UNHURRIED_MS = 3_600_000;
/** How long another process's migration is waited for, on every engine; whole seconds. */
export const MIGRATION_LOCK_MS = 300_000;
/** A migration's wait for a lock of a row or a table; whole seconds. Requests give their locks back long before. */
export const UNHURRIED_LOCK_MS = 60_000;

// Probes, metrics and usage

/** A probe's wait for the database: short, so that its answer is still true. A server may be asked its role within it. */
export const PROBE_MS = 1500;
/** The primary's wait for the meters of its workers; a silent worker counts with its last ones. */
export const WORKERS_WAIT_MS = 1000;
/** A worker's wait for the primary's page of all meters: longer than the primary's own wait. */
export const PRIMARY_WAIT_MS = 2000;
/** How often the use of keys is written: a process that is killed loses that much. Longer than a write may take. */
export const USAGE_FLUSH_MS = 60_000;

// The end of a process; SHUTDOWN_GRACE_MS is for the requests in flight

/** How long an idle connection stays open for a request that is on its way; at most half of the grace. */
export const LINGER_MS = 1000;
/** Closing after the grace: counts are written, the database is closed. */
export const CLOSING_MS = 4000;
/** Writing the counts, whether the database answers or not. */
export const LAST_COUNTS_MS = 3000;
/** The orderly end of a database connection. */
export const CONNECTION_END_MS = 500;
/** The last lines' wait for a reader of standard output. */
export const LAST_LINES_MS = 300;
/** The primary ends this much later than its workers, so that they end by themselves. */
export const WORKERS_FIRST_MS = 500;

// A client

/** The header of a request. */
export const HEADERS_MS = 10_000;
/** Header and body together. */
export const RECEIVE_MS = 30_000;
/** A connection on which nothing moves; it is ended when its client does not read an answer. */
export const STALLED_MS = 30_000;
/** How often connections beyond their time are looked for; Node's default is half a minute. */
export const CONNECTIONS_CHECK_MS = 2000;
/** An idle connection: longer than at a load balancer (60 s is common), so that the load balancer closes it first. */
export const KEEP_ALIVE_MS = 65_000;
