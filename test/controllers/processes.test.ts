/** Controllers in processes of their own, against a server in another one, over HTTPS. */
import { describe, expect, test } from 'vitest';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { createClient } from '../../src/client/client.ts';
import { loadKubeconfig } from '../../src/client/http-transport-kubeconfig.ts';
import { HttpTransport } from '../../src/client/http-transport.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { hastenLease, leaseHolder, type CommandProcess, type MoorProcess, startControllersProcess, startMoor } from '../moor-process.ts';

const volume = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: `/tmp/${name}` } },
});
const claim = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { storageClassName: '', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
async function apply(moor: MoorProcess, ...objects: readonly object[]): Promise<void> {
  const text = objects.map((object) => JSON.stringify(object)).join('\n');
  expect(await moor.kubectlWith(text, 'create', '-f', '-')).toMatchObject({ code: 0, stderr: '' });
}
const bound = (moor: MoorProcess, name: string) => moor.kubectl('wait', '--for=jsonpath={.status.phase}=Bound', `pvc/${name}`, '--timeout=60s');
const holder = (moor: MoorProcess) => leaseHolder(moor, 'moor-controllers');
/** Of its last term: a process that was paused for too long is elected again. */
const epochOf = (process: CommandProcess): number => Number([...process.output().matchAll(/"epoch":(\d+),"msg":"became leader"/g)].at(-1)?.[1]);

/** Writes as a leader of that epoch would. */
async function writeUnder(moor: MoorProcess, epoch: number, name: string): Promise<string> {
  const transport = new HttpTransport({ access: loadKubeconfig(moor.kubeconfig), world: createRealWorld({ logLevel: 'silent' }), userAgent: 'test' });
  const client = createClient({ transport, fence: () => ({ lease: 'kube-system/moor-controllers', epoch }) });
  const written = await client.create(configMapKind, { metadata: { namespace: 'default', name } });
  transport.close();
  return written.ok ? 'written' : `${written.reason} ${'code' in written.error ? written.error.code : ''}`;
}

describe('moor controllers', () => {
  test('of two processes one leads, and when it is killed the other takes over; late writes of the old leader are refused', async () => {
    await using moor = await startMoor({ args: ['--controllers=false'] });
    await apply(moor, volume('v1'), claim('c1'));
    expect(await moor.kubectl('get', 'pvc', 'c1', '-o', 'jsonpath={.status.phase}')).toMatchObject({ stdout: 'Pending' });

    await using first = await startControllersProcess(moor, 'first');
    expect(await bound(moor, 'c1')).toMatchObject({ code: 0 });
    await using second = await startControllersProcess(moor, 'second');
    // The first one, unless it was paused for longer than its lease.
    const [leader, next, name] = (await holder(moor)) === 'first' ? [first, second, 'second'] : [second, first, 'first'];
    await expect.poll(() => writeUnder(moor, epochOf(leader), 'while-leading')).toBe('written');

    await leader.stop('SIGKILL');
    await hastenLease(moor, 'moor-controllers');
    await apply(moor, volume('v2'), claim('c2'));
    expect(await bound(moor, 'c2')).toMatchObject({ code: 0 });
    expect(await holder(moor)).toBe(name);
    expect(await writeUnder(moor, epochOf(leader), 'too-late')).toBe('deposed 409');
    await expect.poll(() => writeUnder(moor, epochOf(next), 'in-time')).toBe('written');
    // It releases the lease.
    expect(await next.stop()).toBe(0);
    expect(await holder(moor)).toBe('');
  });

  test('each controller has its own service account; deleted accounts are created again', async () => {
    await using moor = await startMoor({ args: ['--controllers=false'] });
    await using controllers = await startControllersProcess(moor, 'only');
    await apply(moor, volume('v1'), claim('c1'));
    expect(await bound(moor, 'c1')).toMatchObject({ code: 0 });
    expect(controllers.output()).toContain('each controller acts under its own service account');
    // Its token is invalid without it: the binder gets another one.
    const account = ['serviceaccount', '-n', 'kube-system', 'persistent-volume-binder'];
    expect(await moor.kubectl('delete', ...account)).toMatchObject({ code: 0 });
    await apply(moor, volume('v2'), claim('c2'));
    expect(await bound(moor, 'c2')).toMatchObject({ code: 0 });
    expect(await moor.kubectl('get', ...account)).toMatchObject({ code: 0 });
  });

  test('a server without extensions: the four writes of Kubernetes, and intents in the process', async () => {
    await using moor = await startMoor({ args: ['--controllers=false', '--plain'] });
    await using _controllers = await startControllersProcess(moor, 'plain');
    await apply(moor, volume('v1'), claim('c1'), {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'disk' },
      provisioner: 'kubernetes.io/host-path',
    });
    const made = claim('made');
    await apply(moor, { ...made, spec: { ...made.spec, storageClassName: 'disk' } });
    expect(await bound(moor, 'c1')).toMatchObject({ code: 0 });
    expect(await bound(moor, 'made')).toMatchObject({ code: 0 });
    expect(await moor.kubectl('delete', 'pvc', 'made')).toMatchObject({ code: 0 });
    const name = await moor.kubectl('get', 'pv', '-o', 'jsonpath={.items[?(@.spec.storageClassName=="disk")].metadata.name}');
    if (name.stdout !== '') expect(await moor.kubectl('wait', '--for=delete', `pv/${name.stdout}`, '--timeout=60s')).toMatchObject({ code: 0 });
  });
});
