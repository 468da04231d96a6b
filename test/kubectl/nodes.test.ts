/** Nodes, pods and classes of a plain `moor up`, with the real kubectl. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, root, startMoor } from '../moor-process.ts';

const yaml = (...objects: readonly object[]) => objects.map((object) => JSON.stringify(object)).join('\n');

const container = { name: 'app', image: 'nginx' };
const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [container], ...spec },
});

describe('moor up', () => {
  let moor: MoorProcess;
  beforeAll(async () => {
    moor = await startMoor({ bare: false, args: ['--store', 'memory'] });
  });
  afterAll(() => moor.stop());

  const kubectl = async (...args: string[]) => {
    const result = await moor.kubectl(...args);
    expect(result, `kubectl ${args.join(' ')}`).toMatchObject({ code: 0 });
    return result.stdout;
  };
  const apply = async (...objects: readonly object[]) => expect(await moor.kubectlWith(yaml(...objects), 'apply', '-f', '-')).toMatchObject({ code: 0 });

  test('prints nodes and StorageClasses on the ready screen', () => {
    expect(moor.output()).toContain('3 hollow, nothing runs on them: node-1 (zone-a), node-2 (zone-b), node-3 (zone-c)');
    expect(moor.output()).toContain('classes     immediate, standard (default)');
  });

  test('has three ready nodes in three zones', async () => {
    const rows = (await kubectl('get', 'nodes', '-L', 'topology.kubernetes.io/zone', '--no-headers')).trim().split('\n');
    expect(rows.map((row) => row.split(/\s+/).filter((_, i) => i !== 3))).toEqual(
      ['a', 'b', 'c'].map((zone, i) => [`node-${i + 1}`, 'Ready', '<none>', 'v1.36.4', `zone-${zone}`]),
    );
  });

  test('kubectl describe shows a node with its Lease, pods and events', async () => {
    await apply(pod('described', { nodeName: 'node-2' }));
    await kubectl('wait', '--for=condition=Ready', 'pod/described', '--timeout=60s');
    const described = () => kubectl('describe', 'node', 'node-2');
    const text = await described();
    for (const line of [
      /HolderIdentity: +node-2/,
      /Ready +True .* KubeletReady +kubelet is posting ready status/,
      /default +described /,
      /PodCIDR: +10\.128\.4\.0\/22/,
    ]) {
      expect(text).toMatch(line);
    }
    for (const event of ['Starting kubelet.', 'Node node-2 status is now: NodeReady']) await expect.poll(described).toContain(event);
  });

  test('a pod becomes ready, and is deleted', async () => {
    await apply(pod('web'));
    await kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=60s');
    expect(await kubectl('get', 'pod', 'web', '--no-headers')).toMatch(/^web +1\/1 +Running +0 /);
    const described = () => kubectl('describe', 'pod', 'web');
    for (const event of ['Scheduled', 'Pulling', 'Pulled', 'Created', 'Started']) await expect.poll(described).toMatch(new RegExp(`Normal +${event} `));
    await kubectl('delete', 'pod', 'web', '--timeout=60s');
    expect((await moor.kubectl('get', 'pod', 'web')).stderr).toContain('not found');
  });

  test('the first steps of the README', async () => {
    const volumeOf = (claim: string) => kubectl('get', 'pvc', claim, '-o', 'jsonpath={.spec.volumeName}');
    await kubectl('apply', '-f', path.join(root, 'examples/database.yaml'));
    expect(await kubectl('rollout', 'status', 'statefulset/db', '--timeout=60s')).toContain('partitioned roll out complete: 3 new pods have been updated...');
    const nodes = await kubectl('get', 'pods', '-l', 'app=db', '-o', 'jsonpath={.items[*].spec.nodeName}');
    expect(nodes.split(' ').sort()).toEqual(['node-1', 'node-2', 'node-3']);
    const before = await volumeOf('data-db-1');
    await kubectl('delete', 'pod', 'db-1', '--timeout=60s');
    await kubectl('wait', '--for=create', 'pod/db-1', '--timeout=60s');
    await kubectl('wait', '--for=condition=Ready', 'pod/db-1', '--timeout=60s');
    await kubectl('rollout', 'status', 'statefulset/db', '--timeout=60s');
    expect(await volumeOf('data-db-1')).toBe(before);
    await kubectl('scale', 'statefulset/db', '--replicas=1');
    await kubectl('wait', '--for=delete', 'pod/db-1', 'pod/db-2', '--timeout=60s');
    expect(await kubectl('get', 'pvc', '-o', 'name')).toBe(['0', '1', '2'].map((i) => `persistentvolumeclaim/data-db-${i}\n`).join(''));
    await kubectl('delete', 'statefulset/db', 'service/db', 'pvc/data-db-0', 'pvc/data-db-1', 'pvc/data-db-2', '--timeout=60s');
  });

  test('a container ends as its annotations say', async () => {
    const annotations = { 'mooring.dev/run-for': '1s', 'mooring.dev/exit-code': '3' };
    await apply(pod('task', { restartPolicy: 'Never' }, { annotations }));
    await kubectl('wait', '--for=jsonpath={.status.phase}=Failed', 'pod/task', '--timeout=60s');
    expect(await kubectl('get', 'pod', 'task', '-o', 'jsonpath={.status.containerStatuses[0].state.terminated.exitCode}')).toBe('3');
    expect(await kubectl('get', 'pod', 'task', '--no-headers')).toMatch(/^task +0\/1 +Error /);
  });

  test('a PVC of a hollow CSI driver is provisioned in the zone of its pod, attached and mounted', async () => {
    await apply(
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: 'disk' },
        provisioner: 'hollow.csi.mooring.dev',
        volumeBindingMode: 'WaitForFirstConsumer',
      },
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'disk' },
        spec: { storageClassName: 'disk', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
      pod('with-disk', {
        nodeSelector: { 'topology.kubernetes.io/zone': 'zone-b' },
        containers: [{ ...container, volumeMounts: [{ name: 'disk', mountPath: '/disk' }] }],
        volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }],
      }),
    );
    await kubectl('wait', '--for=condition=Ready', 'pod/with-disk', '--timeout=60s');
    expect(await kubectl('get', 'volumeattachments', '--no-headers')).toMatch(/ hollow\.csi\.mooring\.dev .* node-2 +true /);
    expect(await kubectl('get', 'node', 'node-2', '-o', 'jsonpath={.status.volumesInUse}')).toContain('kubernetes.io/csi/hollow.csi.mooring.dev^pvc-');
    await kubectl('delete', 'pod', 'with-disk', '--timeout=60s');
    await kubectl('wait', '--for=delete', 'volumeattachments', '--all', '--timeout=60s');
    await kubectl('delete', 'pvc', 'disk', '--timeout=60s');
  });

  test('a PVC of the default class is provisioned when a pod uses it', async () => {
    await apply(
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
      pod('with-data', {
        containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
      }),
    );
    await kubectl('wait', '--for=condition=Ready', 'pod/with-data', '--timeout=60s');
    expect(await kubectl('get', 'pvc', 'data', '--no-headers')).toMatch(/^data +Bound +pvc-\S+ +1Gi +RWO +standard /);
    await kubectl('delete', 'pod/with-data', 'pvc/data', '--timeout=60s');
  });
});

test('a restart keeps nodes and StorageClasses with the changes of their users', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'mooring-nodes-'));
  try {
    const first = await startMoor({ bare: false, dataDir });
    const uid = (await first.kubectl('get', 'node', 'node-1', '-o', 'jsonpath={.metadata.uid}')).stdout;
    expect(await first.kubectl('label', 'node', 'node-1', 'disk=ssd')).toMatchObject({ code: 0 });
    expect(await first.kubectl('delete', 'storageclass', 'standard')).toMatchObject({ code: 0 });
    expect(await first.kubectlWith(yaml(pod('web', { nodeName: 'node-1' })), 'create', '-f', '-')).toMatchObject({ code: 0 });
    expect(await first.kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=60s')).toMatchObject({ code: 0 });
    await first.stop('SIGKILL');

    await using second = await startMoor({ bare: false, dataDir, args: ['--nodes', '2', '--zones', 'elsewhere', '--node-capacity', 'cpu=64'] });
    expect(second.output()).toContain('abandoned   node-3 of an earlier start: they do not run now and become NotReady');
    expect(second.output()).toContain('classes     immediate\n');
    const node = await second.kubectl(
      'get',
      'node',
      'node-1',
      '-o',
      'jsonpath={.metadata.uid} {.metadata.labels.disk} {.metadata.labels.topology\\.kubernetes\\.io/zone} {.status.allocatable.cpu}',
    );
    expect(node.stdout).toBe(`${uid} ssd elsewhere 64`);
    expect((await second.kubectl('get', 'pod', 'web', '--no-headers')).stdout).toMatch(/^web +1\/1 +Running +0 /);
    expect(await second.kubectl('delete', 'pod', 'web', '--timeout=60s')).toMatchObject({ code: 0 });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
