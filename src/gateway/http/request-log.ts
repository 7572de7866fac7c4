import type { ServerResponse } from 'node:http';
import { type Logger, safely } from '../log.ts';
import { maskUrl } from '../masking.ts';
import type { Metrics } from '../metrics.ts';
import type { Call } from './call.ts';

/** https://www.w3.org/TR/trace-context/#traceparent-header, with the further fields that later versions may add. */
const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}(?:-|$)/;
/** The logged length of a path, in characters. */
const PATH_MAX = 1024;
/** The client closed the connection before the answer began: the status that nginx logs. */
const CLIENT_GONE = 499;

/**
 * Creates a function that logs and counts a call when its answer is closed. A call without an operation is logged as `unknown`.
 * One of `probes`, which balancers and Prometheus call all the time, is logged at level `debug`, unless it fails.
 */
export function createRequestLog(
  log: Logger,
  metrics: Pick<Metrics, 'countRequest'>,
  probes: ReadonlySet<string>,
): (call: Call, response: ServerResponse) => void {
  return ({ method, path, headers, requestId, clientAddress, told }, response) => {
    const startedAt = performance.now();
    const write = () => {
      const ms = performance.now() - startedAt;
      const { api, operation = 'unknown', keyId } = told;
      const status = response.headersSent ? response.statusCode : CLIENT_GONE;
      metrics.countRequest(api, operation, status, ms / 1000);
      log[probes.has(operation) && status < 400 ? 'debug' : 'info'](
        {
          requestId,
          clientAddress,
          keyId,
          api,
          operation,
          method,
          path: maskUrl(path).slice(0, PATH_MAX), // masked first: a part of a key would not be recognized
          status,
          ms: Math.round(ms * 10) / 10,
          aborted: response.writableFinished ? undefined : true,
          traceparent: TRACEPARENT.exec(`${headers.traceparent}`)?.input.slice(0, 64),
        },
        'request',
      );
    };
    // On close, so that requests whose client went before the answer are logged, too.
    response.on('close', safely(log, write));
  };
}
