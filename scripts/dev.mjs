#!/usr/bin/env node
// npm run dev: bundles the source, runs `moor up`, and restarts it after every change of src/. Types are not checked: npm run types does.
// Arguments are flags of `moor up`: npm run dev -- --runtime hollow --store memory
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { bundle } from './bundle.mjs';

const args = process.argv.slice(2);
let server;
let isBusy = false;
let isStale = false;

async function restart() {
  isStale = true;
  if (isBusy) return;
  isBusy = true;
  while (isStale) {
    isStale = false;
    const started = performance.now();
    try {
      await bundle({ dir: '.dev', sourcemap: true });
    } catch (error) {
      console.error(error.message);
      continue;
    }
    console.log(`dev: bundled in ${Math.round(performance.now() - started)} ms`);
    if (server?.exitCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    server = spawn(process.execPath, ['--enable-source-maps', '--max-semi-space-size=64', '.dev/main/moor.js', 'up', ...args], { stdio: 'inherit' });
  }
  isBusy = false;
}

let timer;
watch('src', { recursive: true }, (_, file) => {
  if (!file?.endsWith('.ts') || file.endsWith('.test.ts')) return;
  clearTimeout(timer);
  timer = setTimeout(() => void restart(), 200);
});
// The server stops cleanly on the same signal; then this process ends.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => void end(signal));
}
await restart();

async function end(signal) {
  if (server?.exitCode === null) {
    if (signal === 'SIGTERM') server.kill(signal);
    await once(server, 'exit');
  }
  process.exit();
}
