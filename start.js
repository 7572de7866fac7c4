import './src/cli/node-version.cjs'; // ends the process when Node is too old

await import('./src/main.ts');
