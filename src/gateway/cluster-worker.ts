import cluster from 'node:cluster';

const PRIMARY = 'GATEWAY_PRIMARY_PID';

/** The variables of a worker that this process forks. */
export const WORKER_ENVIRONMENT = { [PRIMARY]: String(process.pid) };

/** Whether this process is a worker of a primary of ours, which counts for all workers, adds up their metrics and stops them. */
export const IS_WORKER = cluster.isWorker && process.env[PRIMARY] === String(process.ppid);

/** Whether this process is a worker of another program, such as PM2 in its cluster mode, which does none of that. */
export const IS_FOREIGN_WORKER = cluster.isWorker && !IS_WORKER;
