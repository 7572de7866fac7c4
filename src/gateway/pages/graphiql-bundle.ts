import { serialize } from 'node:v8';
import { brotliCompressSync, constants } from 'node:zlib';
import { css, editorWorkerService, graphqlWorker, js, jsonWorker } from '@graphql-yoga/render-graphiql/graphiql';

/*
 * A program for a child process. It compresses the files of Yoga's GraphiQL bundle by Brotli and writes them to its
 * standard output. The gateway does not import the bundle, also not in a worker thread, because its megabytes of strings would
 * stay in memory.
 */

// Each font comes in seven alphabets. GraphiQL's labels are Latin; other text is shown in fonts of the system.
const OTHER_ALPHABETS = /@font-face\{[^{}]*unicode-range:(?!U\+0000-00FF)[^{}]*\}/g;

const pieces = {
  'graphiql.js': js,
  'graphiql.css': css.replaceAll(OTHER_ALPHABETS, ''),
  'editor-worker.js': editorWorkerService,
  'json-worker.js': jsonWorker,
  'graphql-worker.js': graphqlWorker,
};

/** What the process writes, as v8 serializes it: the compressed files of the bundle by name. */
export type CompressedBundle = Readonly<Record<keyof typeof pieces, Buffer>>;

// Higher qualities take many times as long for little gain, and the first request waits for the bundle.
const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };
const compressed = Object.entries(pieces).map(([name, text]) => [name, brotliCompressSync(text, { params })]);
process.stdout.write(serialize(Object.fromEntries(compressed)));
