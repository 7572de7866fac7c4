// Runs before a program. In CommonJS, which every Node reads, so that a Node too old for TypeScript says so.
const needed = Number.parseInt(require('../../package.json').engines.node.replace(/^\D+/, ''), 10);
if (Number.parseInt(process.versions.node, 10) < needed) {
  console.error(
    `The Petstore Gateway needs Node ${needed} or newer, and this is Node ${process.versions.node}: install a newer one, or run npm ci --include=dev --ignore-scripts=false, which brings one for npm start and npm run`,
  );
  process.exit(2);
}
// Before the first file of TypeScript: from the second start on, Node need not load what strips types.
require('node:module').enableCompileCache();
