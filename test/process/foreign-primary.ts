import cluster from 'node:cluster';

// What PM2 does in its cluster mode: forks the program of its first argument as a worker, and stops it by SIGINT.
const [, , exec = ''] = process.argv;
cluster.setupPrimary({ exec, args: [] });
const worker = cluster.fork();
worker.once('exit', (code) => process.exit(code ?? 1));
process.on('SIGTERM', () => worker.process.kill('SIGINT'));
