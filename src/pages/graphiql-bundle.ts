import { brotliCompressSync, constants } from 'node:zlib';
import { css, editorWorkerService, graphqlWorker, js, jsonWorker } from '@graphql-yoga/render-graphiql/graphiql';

/*
 * Runs in a process of its own, sends the pieces of Yoga's GraphiQL bundle compressed by Brotli, and ends. Its module
 * is megabytes of strings: imported by the gateway, or in a worker thread, most of them would stay in memory.
 */

// Each style of the fonts comes in seven alphabets; the labels are in Latin, and other text has the system's fonts.
const OTHER_ALPHABETS = /@font-face\{[^{}]*unicode-range:(?!U\+0000-00FF)[^{}]*\}/g;

const pieces = {
  'graphiql.js': js,
  'graphiql.css': css.replaceAll(OTHER_ALPHABETS, ''),
  'editor-worker.js': editorWorkerService,
  'json-worker.js': jsonWorker,
  'graphql-worker.js': graphqlWorker,
};

/** What the process sends: each piece of the bundle by its name, compressed. */
export type CompressedBundle = Readonly<Record<keyof typeof pieces, Buffer>>;

// Higher qualities take many times as long for little less, and a request waits for the bundle.
const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };
const compressed = Object.entries(pieces).map(([name, text]) => [name, brotliCompressSync(text, { params })]);
process.send?.(Object.fromEntries(compressed), () => process.disconnect());
