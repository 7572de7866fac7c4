// Plain JavaScript, which every Node reads: one that is too old for TypeScript is told so in one line.
const { engines } = JSON.parse(
  (await import('node:fs')).readFileSync(new URL('package.json', import.meta.url), 'utf8'),
);
const needed = /\d+/.exec(engines.node)?.[0];
if (Number.parseInt(process.versions.node, 10) < Number(needed)) {
  console.error(`The Petstore Gateway needs Node ${needed} or newer; this is Node ${process.versions.node}.`);
  process.exitCode = 2;
} else {
  await import('./src/main.ts');
}
