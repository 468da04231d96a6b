#!/usr/bin/env node
/** `kubectl why …` is `moor why …`: kubectl runs a program kubectl-why that is in the PATH, with the arguments behind `why`. */
process.argv.splice(2, 0, 'why');
await import('./moor.ts');
