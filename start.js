import './src/cli/preload.cjs';

await import('./src/main.ts');
