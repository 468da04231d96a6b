// `moor csi serve hollow` in its own process.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const moor = path.join(path.dirname(fileURLToPath(import.meta.url)), '../dist/main/moor.js');

export async function startHollowDriver({ name = 'hollow.csi.mooring.dev', nodeId = 'node-1' } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'mooring-bench-csi-'));
  const socket = path.join(folder, 'csi.sock');
  const endpoint = `unix://${socket}`;
  const args = ['csi', 'serve', 'hollow', '--endpoint', endpoint, '--data-dir', path.join(folder, 'data'), '--driver-name', name, '--node-id', nodeId];
  const child = spawn(moor, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
  });
  child.removeAllListeners('exit');
  return {
    name,
    socket,
    endpoint,
    pid: child.pid,
    stop: async () => {
      const ended = new Promise((resolve) => void child.once('exit', resolve));
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
