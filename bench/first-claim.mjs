// From `git clone` to a bound claim whose data is read back by kubectl exec: what a new user waits for, step by step, and the processor time of each
// step's commands, which a busy machine changes less. Needs root and a kubectl.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const project = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Processor time of all commands that have ended, in seconds: cutime and cstime of proc(5), a hundredth each. */
const processorTime = () => {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
};

const objects = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'app' },
      spec: {
        containers: [
          { name: 'app', image: 'busybox', command: ['sh', '-c', 'echo kept > /data/file; sleep 1000'], volumeMounts: [{ name: 'data', mountPath: '/data' }] },
        ],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
      },
    },
  ],
};

export async function run() {
  const folder = mkdtempSync(path.join(tmpdir(), 'mooring-first-'));
  const clone = path.join(folder, 'mooring');
  const figures = {};
  const env = { ...process.env, XDG_STATE_HOME: folder };
  const call = (command, args, options = {}) =>
    execFileSync(command, args, { cwd: clone, env, encoding: 'utf8', stdio: ['pipe', 'pipe', 'inherit'], ...options });
  const moor = (...args) => call(process.execPath, ['dist/main/moor.js', ...args]);
  const began = performance.now();
  const step = (name, task) => {
    const [from, used] = [performance.now(), processorTime()];
    const result = task();
    figures[`${name}, s`] = (performance.now() - from) / 1000;
    figures[`${name}, s of processor time`] = processorTime() - used;
    return result;
  };
  try {
    step('git clone', () => call('git', ['clone', '--quiet', project, clone], { cwd: folder }));
    step('npm ci', () => call('npm', ['ci', '--silent']));
    step('npm start, until it is ready', () => call('npm', ['start', '--silent', '--', 'first', '--detach', '--runtime', 'sandbox']));
    const kubeconfig = moor('kubeconfig', 'first', '--path').trim();
    const kubectl = (...args) => call('kubectl', ['--kubeconfig', kubeconfig, ...args]);
    step('apply, until the pod is ready', () => {
      call('kubectl', ['--kubeconfig', kubeconfig, 'apply', '-f', '-'], { input: JSON.stringify(objects) });
      kubectl('wait', '--for=condition=Ready', 'pod/app', '--timeout=120s');
    });
    const read = step('kubectl exec', () => kubectl('exec', 'app', '--', 'cat', '/data/file'));
    if (read !== 'kept\n') throw new Error(`read ${JSON.stringify(read)}`);
    figures['all of it, s'] = (performance.now() - began) / 1000;
    return figures;
  } finally {
    try {
      moor('delete', 'first', '--yes');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
