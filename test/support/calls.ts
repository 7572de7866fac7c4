import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { REQUEST_MS } from '../../src/gateway/deadlines.ts';
import type { AdmittedCall, Call } from '../../src/gateway/http/call.ts';

/** A call as the gateway reads it: a GET of `/` unless told otherwise. */
export function callOf(parts: Partial<Call> = {}): Call {
  return {
    method: 'GET',
    path: '/',
    querystring: '',
    headers: {},
    requestId: 'none',
    clientAddress: '127.0.0.1',
    baseUrl: 'http://gateway',
    told: { api: 'other' },
    ...parts,
  };
}

/** Such a call that has passed all checks, of a key that may write. */
export function admittedCall(parts: Partial<AdmittedCall> = {}): AdmittedCall {
  return {
    ...callOf(parts),
    caller: { keyId: '1', ownerId: '1', mayWrite: true },
    params: {},
    body: Buffer.alloc(0),
    deadline: performance.now() + REQUEST_MS,
    reserve: () => undefined,
    ...parts,
  };
}

/** What serving sees of a connection: a request whose body ends, empty, by `endBody()`, and an answer that closes by `close()`. */
export function connectionOf({ closed = false, headers = {} } = {}) {
  const response = Object.assign(new EventEmitter(), { closed });
  const request = Object.assign(new EventEmitter(), { headers, readable: true });
  return {
    request: request as unknown as IncomingMessage, // what reading and discarding a body use
    response: response as unknown as ServerResponse, // what places and unread answers use
    endBody: () => void request.emit('end'),
    close() {
      response.closed = true;
      response.emit('close');
    },
  };
}
