import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';

/** A chunk of a body costs an object and some µs, however short it is: beyond so many, each needs so many bytes. */
const PIECES_FREE = 1024;
const PIECE_BYTES = 64;
/**
 * How Node's parser tells of a complete header, a piece of a body, a complete request. Without a callback it passes over it:
 * https://github.com/nodejs/node/blob/v24.x/src/node_http_parser.cc
 */
export type Callbacks = { 2?: unknown; 3?: ((piece: Buffer) => void) | undefined; 4?: unknown };

/** Bounds the chunks of a connection's bodies: to be called with each request, and without one when the connection is closed. */
export function boundPieces(parser: Callbacks, refuse: (error: ApiError) => void): (request?: IncomingMessage) => void {
  const { 2: onHeader, 3: onBody, 4: onComplete } = parser;
  let room = 0;
  const count = (piece: Buffer) => {
    room += piece.length - PIECE_BYTES;
    if (room >= 0) return onBody?.call(parser, piece);
    Object.assign(parser, { 2: undefined, 3: undefined, 4: undefined });
    refuse(new ApiError('bad_request', 'The body comes in too many small chunks.'));
  };
  return (request) => {
    room = PIECES_FREE * PIECE_BYTES;
    parser[3] = request?.headers['transfer-encoding'] === undefined ? onBody : count;
    if (request === undefined) Object.assign(parser, { 2: onHeader, 4: onComplete }); // for the next connection
  };
}
