/**
 * THE table of times that must fit together, in ms. Each says why it is as long as it is; `test/unit/deadlines.test.ts` holds
 * how they fit. A time that fits with no other stands beside its use.
 */

// A request

/** From a request's last byte to its answer. Clients are promised 5.5 s: the rest is for an event loop that is late. */
export const REQUEST_MS = 5000;
/** The event loop may be this late on average before requests are refused: more would break that promise. */
export const LAG_LIMIT_MS = 500;
/** What the database leaves of a request's time, to write the answer, or that there is none. */
export const ANSWER_MS = 500;
/** The look-up of a key, of which the request waits for the end: afterwards there is time for a write that waits for a lock. */
export const KEY_LOOKUP_MS = 2500;
/** How long a worker waits for the count of its key's requests at all workers; afterwards the request passes uncounted. */
export const COUNT_MS = 500;
/** A wait for the key's share of the process: afterwards the key may have to be looked up once more. */
export const SHARE_WAIT_MS = 2000;

// A key

/** How long a key found in the database is believed: a revoked one stops within 5 s, the request that is let in last included. */
export const BELIEVED_MS = 4000;
/** From this age on a key in use is looked up again beside a request: well before it is not believed any more, so nobody waits. */
export const REFRESHED_MS = 2000;

// A statement

/** For a lock of a row or a table; whole seconds. It ends at the server before the deadline does, so no write happens later. */
export const LOCK_MS = 2000;
/** After which the server itself ends a statement, which nobody waits for by then. */
export const STATEMENT_MS = 5000;
/** No new attempt of what was rolled back with less than this left: it may wait for a lock, and would only be given up again. */
export const ATTEMPT_MS = 2500;
/** How long SQLite waits for another process's write: as for a lock. */
export const BUSY_MS = 2000;
/** How long a query of SQLite waits for those before it: longer than one of them may wait for another process. */
export const ACQUIRE_MS = 2500;

// The way to a server

/** How long the name of a server may take to be looked up: after it there is time to connect. */
export const NAME_LOOKUP_MS = 2000;
/** From the first packet to a session that is ready: after it there is time to be told so. */
export const CONNECT_MS = 2000;
/** After which the server ends a session that asks nothing, and undoes its transaction; the pool closes it before. Whole seconds. */
export const SESSION_IDLE_MS = 50_000;
/** A server is asked again whether it takes writes after this time, beside the requests … */
export const ROLE_KNOWN_MS = 500;
/** … how long its answer may take … */
export const ROLE_LIMIT_MS = 1000;
/** … and it is asked before the next request when the last answer is older: as old as it becomes while the next one is awaited. */
export const ROLE_TRUSTED_MS = 1500;

// Work that nobody waits for in a request, such as a migration

/** The whole of it: an hour. */
export const UNHURRIED_MS = 3_600_000;
/** How long another process's migration is waited for, on every engine; whole seconds. */
export const MIGRATION_LOCK_MS = 300_000;
/** For a lock of a row or a table, within a migration; whole seconds. Requests, which hold locks, are over long before. */
export const UNHURRIED_LOCK_MS = 60_000;

// Those who look after the process

/** How long a probe waits for the database: who asks is to hear the truth while it is one. A server may be asked its role in it. */
export const PROBE_MS = 1500;
/** How long the primary waits for the meters of its workers; of one that has not answered then, the last ones stand. */
export const WORKERS_WAIT_MS = 1000;
/** How long a worker waits for the primary's page of all meters: longer than the primary does for the workers. */
export const PRIMARY_WAIT_MS = 2000;
/** How often the use of keys is written: what a process that is killed forgets. Longer than a write may take. */
export const USAGE_FLUSH_MS = 60_000;

// The end of a process; SHUTDOWN_GRACE_MS is for the requests under way

/** How long a kept connection may still bring a request before it is closed; at most half of the grace. */
export const LINGER_MS = 1000;
/** What closing may take after the grace: counts are written, the database is closed. */
export const CLOSING_MS = 4000;
/** How long the counts may take, whether the database answers or not. */
export const LAST_COUNTS_MS = 3000;
/** How long a database connection may take to end well. */
export const CONNECTION_END_MS = 500;
/** How long the last lines of the log may wait for a reader of standard output. */
export const LAST_LINES_MS = 300;
/** The primary ends this much later than its workers: they end by themselves. */
export const WORKERS_FIRST_MS = 500;

// A client

/** The header of a request. */
export const HEADERS_MS = 10_000;
/** Header and body together. */
export const RECEIVE_MS = 30_000;
/** A connection on which nothing moves: one whose client does not read its answer is ended. */
export const STALLED_MS = 30_000;
/** How often connections beyond their time are looked for; Node's default is half a minute. */
export const CONNECTIONS_CHECK_MS = 2000;
/** An idle connection. Longer than a load balancer's (60 s is common): the side that reuses a connection closes it first. */
export const KEEP_ALIVE_MS = 65_000;
