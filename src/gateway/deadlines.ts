// THE table of times that depend on each other, in ms; test/unit/deadlines.test.ts checks how. Other times stand beside
// their use.

// A request

/** From a request's last byte to its answer. Clients are promised 5.5 s; the difference is for a late event loop. */
export const REQUEST_MS = 5000;
/** When the event loop is later than this on average, requests are refused: REQUEST_MS and this make the 5.5 s. */
export const LAG_LIMIT_MS = 500;
/** The part of REQUEST_MS for writing the answer; the database has the rest. */
export const ANSWER_MS = 500;
/** A request's wait for the look-up of its key. Afterwards a write still has time to wait for a lock. */
export const KEY_LOOKUP_MS = 2500;
/** A worker's wait for the primary's count of a key's requests; afterwards the request passes uncounted. */
export const RATE_COUNT_MS = 500;
/**
 * A request's waits for its key's share of the process, for a place and for memory together. Afterwards there is time for
 * another look-up of the key.
 */
export const SHARE_WAIT_MS = 2000;

// A key

/** The time to live of a cached key: no work begins later than 4 s after the key's revocation. Work that waits may end later. */
export const KEY_CACHE_MS = 4000;
/** The age from which a request refreshes a cached key in the background. */
export const KEY_REFRESH_MS = 2000;

// A statement

/**
 * A wait for a lock of a row or a table; whole seconds. The server ends it before the deadline, so no write is done
 * later.
 */
export const LOCK_MS = 2000;
/** The same on a connection to a distant server: a create of several round trips must have begun its COMMIT this long before its end. */
export const DISTANT_LOCK_MS = 1000;
/** The round trip from which a server is distant: statements are sent as text, because preparing one is a round trip more. */
export const DISTANT_MS = 100;
/** The server itself ends a statement after this time; its request has been answered by then. */
export const STATEMENT_MS = 5000;
/** A rolled-back write is retried only when at least this time is left: enough to wait for a lock. */
export const RETRY_LEAST_MS = 2500;
/** The id lock of a process is released after this time, so a lost connection delays other creates no longer than this. */
export const ID_LOCK_MS = 1000;
/** And after this time while a create waits for a record that another gateway has locked: one that froze holds many. */
export const RECORD_WAIT_MS = 200;
/** SQLite's wait for the write of another process: as long as LOCK_MS. */
export const BUSY_MS = 2000;
/** The wait for a lock, on the event loop, when an SQLite file is looked at before it is opened. A start looks again. */
export const PEEK_MS = 200;
/** A query's wait in the queue of an SQLite connection: longer than BUSY_MS, which the query before it may take. */
export const ACQUIRE_MS = 2500;

// A connection to a server

/** The look-up of a server's name. Afterwards there is still time to connect. */
export const NAME_LOOKUP_MS = 2000;
/** From the first packet to a session that is ready. Afterwards there is still time to write the answer. */
export const CONNECT_MS = 2500;
/** The server ends an idle session after this time; the pool closes it before. Whole seconds. */
export const SESSION_IDLE_MS = 50_000;
/** How often it is checked, while there are requests, whether the server takes writes (role check). */
export const ROLE_INTERVAL_MS = 500;
/** The timeout of that role check. */
export const ROLE_TIMEOUT_MS = 1000;
/** The greatest age of a role check that a request relies on: ROLE_INTERVAL_MS and ROLE_TIMEOUT_MS. */
export const ROLE_MAX_AGE_MS = 1500;

// Work outside of requests, such as a migration

/** The deadline of such work: an hour. */
export const LONG_WORK_MS = 3_600_000;
/** A wait for another process's migration, on every engine; whole seconds. */
export const MIGRATION_LOCK_MS = 300_000;
/** A migration's wait for a lock of a row or a table; whole seconds. Requests release their locks much earlier. */
export const LONG_WORK_LOCK_MS = 60_000;

// Probes, metrics and usage

/** A probe's wait for the database. It is short so that the answer is recent, and longer than ROLE_TIMEOUT_MS. */
export const PROBE_MS = 1500;
/** How much longer a probe waits for a distant database, at most: its round trips. */
export const PROBE_DISTANCE_MS = 1000;
/** The primary's wait for the meters of its workers; for a silent worker its last known ones count. */
export const WORKERS_WAIT_MS = 1000;
/** A worker's wait for the primary's page of all meters: longer than the primary's own wait. */
export const PRIMARY_WAIT_MS = 2000;
/** How often the use of keys is written: a process that is killed loses the use since. Longer than a write may take. */
export const USAGE_FLUSH_MS = 60_000;

// The end of a process; SHUTDOWN_GRACE_MS is for the requests in flight

/**
 * How long a stopping server takes requests, so that load balancers learn of the stop by `/readyz`; at most half of
 * SHUTDOWN_GRACE_MS.
 */
export const DRAIN_MS = 1000;
/** The longest hold of requests while a stopping server accepts its last connections. */
export const ACCEPT_MS = 200;
/** The time after SHUTDOWN_GRACE_MS for writing what is left of the counts and closing the database. */
export const CLOSING_MS = 800;
/** Writing the counts, which begins with the stop: this long beyond SHUTDOWN_GRACE_MS at the most. */
export const LAST_COUNTS_MS = 300;
/** The wait for a database connection to end by itself after COM_QUIT. */
export const CONNECTION_END_MS = 200;
/** The wait for standard output to take the last lines of the log. */
export const LAST_LINES_MS = 300;
/** The primary waits this much longer than its workers, so that they end by themselves. */
export const WORKERS_FIRST_MS = 200;

// A client

/** The header of a request. */
export const HEADERS_MS = 10_000;
/** Header and body together. */
export const RECEIVE_MS = 30_000;
/** A connection on which no bytes move is closed after this time, if an answer waits for its client. */
export const STALLED_MS = 30_000;
/** How often HEADERS_MS and RECEIVE_MS are checked; Node's default is half a minute. */
export const CONNECTIONS_CHECK_MS = 2000;
/** An idle connection. Longer than at load balancers, commonly 60 s, so that the load balancer closes it first. */
export const KEEP_ALIVE_MS = 65_000;
