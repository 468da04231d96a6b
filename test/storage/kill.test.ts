/** A real `moor up`, real directories, and `kill -9` the moment the first of them comes or goes. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type MoorProcess, runMoor, startMoor } from '../moor-process.ts';

const root = '/tmp/hostpath_pv';
const names = Array.from({ length: 12 }, (_, i) => `claim-${i}`);

const manifest = [
  { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'directories' }, provisioner: 'kubernetes.io/host-path' },
  ...names.map((name) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { storageClassName: 'directories', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })),
]
  .map((object) => JSON.stringify(object))
  .join('\n');

/** The directories of one cluster: others share the place. Beside them, who led last is noted. */
async function ownDirectories(moor: MoorProcess): Promise<() => string[]> {
  const { stdout: uid } = await moor.kubectl('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}');
  const ending = createHash('sha256').update(uid).digest('hex').slice(0, 12);
  return () => readdirSync(root).filter((name) => !name.startsWith('.') && name.endsWith(ending));
}

/** Kills the process as soon as `happened`, which a change in the directory may bring about. */
async function killOnce(moor: MoorProcess, happened: () => boolean): Promise<void> {
  const watcher = watch(root);
  await new Promise<void>((resolve) => {
    watcher.on('change', () => {
      if (happened()) resolve();
    });
  });
  watcher.close();
  await moor.stop('SIGKILL');
}

/** With the words of kubectl wait. */
const awaited = async (moor: MoorProcess, ...what: string[]) => expect(await moor.kubectl('wait', '--timeout=60s', ...what)).toMatchObject({ code: 0 });

const clean = async (moor: MoorProcess) => expect(await runMoor('audit', '--kubeconfig', moor.kubeconfig)).toMatchObject({ code: 0, stderr: '' });

test('killed while volumes are made and deleted: the next process finishes, nothing is lost and nothing is left', async () => {
  mkdirSync(root, { recursive: true });
  const dataDir = mkdtempSync(path.join(tmpdir(), 'mooring-kill-'));
  const started: MoorProcess[] = [];
  const start = async () => {
    const moor = await startMoor({ dataDir });
    started.push(moor);
    return moor;
  };
  try {
    const first = await start();
    const directories = await ownDirectories(first);
    const applied = first.kubectlWith(manifest, 'apply', '-f', '-');
    await killOnce(first, () => directories().length > 0);
    await applied;
    expect(directories()).not.toEqual([]);

    const second = await start();
    expect(await second.kubectlWith(manifest, 'apply', '-f', '-')).toMatchObject({ code: 0 });
    await awaited(second, '--for=jsonpath={.status.phase}=Bound', 'pvc', '--all');
    expect(directories()).toHaveLength(names.length);
    await clean(second);
    const deleted = second.kubectl('delete', 'pvc', '--all', '--wait=false');
    await killOnce(second, () => directories().length < names.length);
    await deleted;

    const third = await start();
    await third.kubectl('delete', 'pvc', '--all', '--wait=false');
    await awaited(third, '--for=delete', 'pv', '--all');
    expect(directories()).toEqual([]);
    await clean(third);
  } finally {
    for (const moor of started) await moor.stop('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  }
});
