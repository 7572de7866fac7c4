import { createLog } from '../../src/gateway/log.ts';
import { stopGracefully } from '../../src/gateway/process/stop.ts';

// A program whose end is never reached. Its argument says what happens to it: SIGTERM, or a fault.
setInterval(() => {}, 1000);
stopGracefully(() => new Promise(() => {}), 0, createLog('info'));
if (process.argv[2] !== 'SIGTERM') throw new Error('on purpose');
process.kill(process.pid, 'SIGTERM');
