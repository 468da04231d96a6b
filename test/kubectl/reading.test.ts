import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';
import { claim, deployment, settings, volume } from './manifests.ts';

let moor: MoorProcess;
beforeAll(async () => {
  moor = await startMoor();
});
afterAll(() => moor[Symbol.asyncDispose]());

async function ok(...args: string[]): Promise<string> {
  const result = await moor.kubectl(...args);
  expect(result, `kubectl ${args.join(' ')}: ${result.stderr}`).toMatchObject({ code: 0 });
  return result.stdout;
}
async function create(manifest: string): Promise<void> {
  expect(await moor.kubectlWith(manifest, 'create', '-f', '-')).toMatchObject({ code: 0, stderr: '' });
}
const columns = (table: string) => table.split('\n')[0]?.trim().split(/ {2,}/) ?? [];

describe('kubectl reads', () => {
  test('get prints the columns of Kubernetes, and more with -o wide', async () => {
    await create(volume('shown'));
    const table = await ok('get', 'pv');
    expect(columns(table)).toEqual([
      'NAME',
      'CAPACITY',
      'ACCESS MODES',
      'RECLAIM POLICY',
      'STATUS',
      'CLAIM',
      'STORAGECLASS',
      'VOLUMEATTRIBUTESCLASS',
      'REASON',
      'AGE',
    ]);
    expect(table).toMatch(/^shown +5Gi +RWO,ROX +Retain +\w+ +slow +<unset> +\d+\S*s$/m);
    const wide = await ok('get', 'pv', '-o', 'wide');
    expect(columns(wide).at(-1)).toBe('VOLUMEMODE');
    expect(wide).toMatch(/Filesystem$/m);
  });

  test('get -o yaml, json and jsonpath give the object as Kubernetes would', async () => {
    await create(claim('typed'));
    const yaml = await ok('get', 'pvc', 'typed', '-o', 'yaml');
    expect(yaml).toContain('kind: PersistentVolumeClaim');
    expect(yaml).toMatch(/finalizers:\n {2}- kubernetes.io\/pvc-protection/);
    const json = JSON.parse(await ok('get', 'pvc/typed', '-o', 'json')) as { spec: unknown; status: unknown };
    expect(json.spec).toEqual({
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1536Mi' } },
      storageClassName: 'none-such',
      volumeMode: 'Filesystem',
    });
    expect(json.status).toEqual({ phase: 'Pending' });
    expect(await ok('get', 'pvc', '-o', 'jsonpath={.items[?(@.metadata.name=="typed")].spec.resources.requests.storage}')).toBe('1536Mi');
    expect(await ok('get', 'pvc', 'typed', '-o', 'custom-columns=N:.metadata.name,M:.spec.volumeMode')).toMatch(/typed +Filesystem/);
    expect(await ok('get', 'pvc', '-o', 'name')).toContain('persistentvolumeclaim/typed');
  });

  test('get pages through a long list without a gap', async () => {
    await ok('create', 'namespace', 'many');
    const names = Array.from({ length: 57 }, (_, i) => `m-${String(i).padStart(2, '0')}`);
    await create(names.map((n) => settings(n).replace('metadata:', 'metadata:\n  namespace: many')).join('---\n'));
    const listed = async () => (await ok('get', 'configmaps', '-n', 'many', '--chunk-size=10', '-o', 'name')).trim().split('\n');
    await expect.poll(listed).toEqual([...names, 'kube-root-ca.crt'].sort().map((n) => `configmap/${n}`));
  });

  test('get selects by label and by field', async () => {
    await create(claim('picked'));
    expect(await ok('get', 'pvc', '-l', 'app=picked', '-o', 'name')).toBe('persistentvolumeclaim/picked\n');
    expect(await ok('get', 'pvc', '-l', 'app in (x, picked),!gone', '-o', 'name')).toBe('persistentvolumeclaim/picked\n');
    expect(await ok('get', 'pvc', '--field-selector', 'metadata.name=picked', '-o', 'name')).toBe('persistentvolumeclaim/picked\n');
    const bad = await moor.kubectl('get', 'pvc', '--field-selector', 'spec.color=red');
    expect(bad.stderr).toContain('"spec.color" is not a known field selector');
  });

  test('get -w follows changes', async () => {
    await create(settings('followed'));
    const followed = moor.spawnKubectl('get', 'cm', '-w', '--field-selector', 'metadata.name=followed', '-o', 'jsonpath={.data.a}{"\\n"}');
    let seen = '';
    const until = (text: string) =>
      new Promise<void>((resolve, reject) => {
        followed.stdout.on('data', () => seen.includes(text) && resolve());
        followed.once('exit', () => reject(new Error(`kubectl ended; it printed ${seen}`)));
        if (seen.includes(text)) resolve();
      });
    followed.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
    });
    await until('1\n');
    await ok('patch', 'cm', 'followed', '-p', '{"data":{"a":"2"}}');
    await until('2\n');
    await ok('delete', 'cm', 'followed');
    followed.kill();
    await once(followed, 'exit').catch(() => undefined);
    expect(seen.split('\n').slice(0, 2)).toEqual(['1', '2']);
  });

  test('describe of a PVC, a PV, a pod and a node', async () => {
    await create(claim('told'));
    await create(volume('told'));
    const story = await ok('describe', 'pvc', 'told');
    expect(story).toMatch(/^Name: +told$/m);
    expect(story).toMatch(/^StorageClass: +none-such$/m);
    expect(story).toMatch(/^Finalizers: +\[kubernetes.io\/pvc-protection\]$/m);
    expect(await ok('describe', 'pv', 'told')).toMatch(/^Capacity: +5Gi$/m);
    await create(deployment('told'));
    expect(await ok('describe', 'deployment', 'told')).toMatch(/^Selector: +app=told$/m);
    await create('apiVersion: v1\nkind: Node\nmetadata: {name: told}\n');
    expect(await ok('describe', 'node', 'told')).toMatch(/^Name: +told$/m);
    await create('apiVersion: v1\nkind: Pod\nmetadata: {name: told}\nspec: {containers: [{name: a, image: "a:1"}]}\n');
    const pod = await ok('describe', 'pod', 'told');
    expect(pod).toMatch(/^QoS Class: +BestEffort$/m);
    expect(pod).toContain('node.kubernetes.io/not-ready:NoExecute op=Exists for 300s');
  });

  test('api-resources lists what is served, with short names', async () => {
    const table = await ok('api-resources');
    expect(table).toMatch(/^persistentvolumeclaims +pvc +v1 +true +PersistentVolumeClaim$/m);
    expect(table).toMatch(/^storageclasses +sc +storage.k8s.io\/v1 +false +StorageClass$/m);
    expect(table).toMatch(/^statefulsets +sts +apps\/v1 +true +StatefulSet$/m);
    expect((await ok('api-versions')).trim().split('\n')).toContain('coordination.k8s.io/v1');
    expect(await ok('api-resources', '--namespaced=false', '--verbs=list', '-o', 'name')).toContain('persistentvolumes\n');
  });

  test('version names the server, without a warning about version skew', async () => {
    const version = JSON.parse(await ok('version', '-o', 'json')) as { serverVersion: { major: string; minor: string } };
    expect(version.serverVersion.major).toBe('1');
    expect(Number.parseInt(version.serverVersion.minor, 10)).toBeGreaterThanOrEqual(30);
  });

  test('wait returns on a condition, a value or a deletion', async () => {
    await create('apiVersion: v1\nkind: Node\nmetadata: {name: awaited}\n');
    const waiting = ok('wait', 'node/awaited', '--for=condition=Ready', '--timeout=60s');
    await ok('patch', 'node', 'awaited', '--subresource=status', '-p', '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}');
    expect(await waiting).toContain('node/awaited condition met');
    await create(settings('awaited'));
    const value = ok('wait', 'cm/awaited', '--for=jsonpath={.data.a}=9', '--timeout=60s');
    await ok('patch', 'cm', 'awaited', '-p', '{"data":{"a":"9"}}');
    expect(await value).toContain('condition met');
    const deletion = ok('wait', 'cm/awaited', '--for=delete', '--timeout=60s');
    await ok('delete', 'cm', 'awaited');
    // kubectl succeeds in either order; it prints nothing if the object was gone before its first request.
    await deletion;
  });

  test('get --raw reaches health and metrics', async () => {
    expect(await ok('get', '--raw', '/readyz')).toBe('ok');
    expect(await ok('get', '--raw', '/metrics')).toContain('apiserver_request_total');
  });
});
