import { describe, expect, test } from 'vitest';
import type { ConfigMap, Pod, Secret } from '../api/generated/types.ts';
import { formatQuantity } from '../api/quantity.ts';
import { Machine, SimulatedHost } from '../sim/host/simulated-host.ts';
import { configMapNode } from './config-map/node.ts';
import { describeNodeDriver, type DriverUnderTest } from './conformance.ts';
import type { NodeDriver, NodePublishVolumeRequest, SourceOnNode } from './contract.ts';
import { downwardApiNode } from './downward-api/node.ts';
import { csiNode } from './csi/node.ts';
import { emptyDirNode } from './empty-dir/node.ts';
import { memorySize } from './mount/empty-directory.ts';
import { nestedMountPoints } from './api-files/nested-mount-points.ts';
import type { HostWithPrograms } from './mount/mount-program.ts';
import type { NodeHost } from './mount/node-host.ts';
import { hostPathNode } from './host-path/node.ts';
import { imageNode } from './image/node.ts';
import { localNode } from './local/node.ts';
import { projectedNode, type ProjectedOptions } from './projected/node.ts';
import { secretNode } from './secret/node.ts';

let now = Date.UTC(2026, 0, 1);
const clock = { now: () => now, monotonic: () => ++now };
const configMap = { metadata: {}, data: { 'a.conf': 'level=1', b: 'x' }, binaryData: { raw: 'AAE=' } } as unknown as ConfigMap;
const secret = { metadata: {}, data: { password: 'c2VjcmV0' } } as unknown as Secret;
const pod = {
  metadata: { namespace: 'default', name: 'web', uid: 'uid', labels: { app: 'web', b: 'a"b' } },
  spec: { containers: [] },
  status: {},
} as unknown as Pod;
const options = (host: NodeHost) => ({ ...host, clock, allocatableMemory: '1Gi' });
let issued = 0;
const around = (host: NodeHost): ProjectedOptions => ({
  ...options(host),
  configMap: (key) => (key === 'default/settings' ? configMap : undefined),
  secret: (key) => (key === 'default/password' ? secret : undefined),
  allocatable: () => ({ cpu: '4', memory: '8Gi' }),
  token: async () => ({ ok: true, value: { token: `token-${++issued}`, expires: now + 3_600_000 } }),
});

/** On simulated machines. */
function describeSimulated(name: string, under: Omit<DriverUnderTest, 'machine'>): void {
  const machine = () => {
    const one = new Machine();
    return { host: (hooks: ConstructorParameters<typeof SimulatedHost>[1] = {}) => new SimulatedHost(one, hooks) };
  };
  describeNodeDriver(name, { ...under, machine });
}

const scratch = { data: undefined, content: 'as old as its pod', readOnly: 'container' } as const;
const made = { data: undefined, content: 'made', readOnly: 'container' } as const;
const srv = { data: '/srv/data', content: 'outlives pods' } as const;
const emptyDir = async (host: NodeHost) => emptyDirNode(options(host));
const local = async (host: HostWithPrograms) => localNode({ ...host, clock });
describeSimulated('emptyDir', { make: emptyDir, volume: { source: { emptyDir: {} } }, ...scratch });
describeSimulated('emptyDir in memory', { make: emptyDir, volume: { source: { emptyDir: { medium: 'Memory' } } }, ...scratch });
const hostPath = { source: { hostPath: { path: '/srv/data' } } };
describeSimulated('hostPath', { make: async (host) => hostPathNode(host), volume: hostPath, ...srv, readOnly: 'container' });
const directory = { source: { local: { path: '/srv/data' } } };
describeSimulated('local', { make: local, volume: directory, ...srv, readOnly: 'driver' });
describeSimulated('local, read-only', { make: local, volume: { ...directory, readOnly: true, mountOptions: ['noexec'] }, ...srv, readOnly: 'driver' });
describeSimulated('configMap', {
  make: async (host) => configMapNode(around(host)),
  volume: { source: { configMap: { name: 'settings' } } },
  holds: ['a.conf', 'level=1'],
  ...made,
});
describeSimulated('secret', {
  make: async (host) => secretNode(around(host)),
  volume: { source: { secret: { secretName: 'password' } } },
  holds: ['password', 'secret'],
  ...made,
});
const labels = { path: 'about/labels', fieldRef: { fieldPath: 'metadata.labels' } };
const about = ['about/labels', 'app="web"\nb="a\\"b"'] as const;
describeSimulated('downwardAPI', {
  make: async (host) => downwardApiNode(around(host)),
  volume: { source: { downwardAPI: { items: [labels] } } },
  pod,
  holds: about,
  ...made,
});
const sources = [{ configMap: { name: 'settings' } }, { secret: { name: 'password' } }, { downwardAPI: { items: [labels] } }];
describeSimulated('projected', {
  make: async (host) => projectedNode(around(host)),
  volume: { source: { projected: { sources } } },
  pod,
  holds: about,
  ...made,
});

const images = async ({ files }: NodeHost) => {
  await files.makeDirectory('/images', 0o711);
  if ((await files.stat('/images/pvc-1.img')) === undefined) await files.write('/images/pvc-1.img', new Uint8Array(4096), 0o600);
};
const devices = { grow: async () => undefined, release: async () => undefined };
const imageOn = (host: NodeHost) => imageNode({ ...options(host), path: (name) => `/images/${name}.img`, devices });
const image = { source: { csi: { driver: 'image.mooring.dev', volumeHandle: 'pvc-1', fsType: 'ext4' } }, mountOptions: ['noatime'] };
const ofImages = { prepare: images, data: undefined, content: 'outlives pods', readOnly: 'driver' } as const;
describeSimulated('image', { make: async (host) => imageOn(host), volume: image, ...ofImages });
describeSimulated('csi', { make: async (host) => csiNode(host, [imageOn(host)]), volume: { ...image, readOnly: true }, ...ofImages });

/** Publishes one volume on a new machine. */
function on(make: (host: NodeHost) => NodeDriver) {
  const host = new SimulatedHost();
  const driver = make({ mounts: host, files: host });
  const publish = async (source: SourceOnNode, of: Pod = pod) => {
    await host.makeDirectory('/pods', 0o750);
    const volume = { name: 'data', source, persistentVolume: undefined, readOnly: false, mountOptions: [], mode: 'Filesystem' as const, publishContext: {} };
    const request: NodePublishVolumeRequest = { volume, pod: of, target: '/pods/data', stagingPath: undefined, recordEvent: () => undefined };
    return driver.nodePublishVolume(request);
  };
  const text = async (path: string) => new TextDecoder().decode(await host.read(`/pods/data/${path}`));
  return { host, publish, text };
}

describe('hostPath', () => {
  const cases = [
    ['Directory', 'hostPath type check failed: /x is not a directory'],
    ['File', 'hostPath type check failed: /x is not a file'],
    ['Socket', 'hostPath type check failed: /x is not a socket file'],
    ['CharDevice', 'hostPath type check failed: /x is not a character device'],
    ['BlockDevice', 'hostPath type check failed: /x is not a block device'],
    ['Nonsense', 'Nonsense is an invalid volume type'],
  ] as const;
  test.each(cases)('of type %s is checked (v1.36.4)', async (type, message) => {
    expect(await on(hostPathNode).publish({ hostPath: { path: '/x', type } })).toMatchObject({ ok: false, message });
  });

  test('is created for DirectoryOrCreate and FileOrCreate', async () => {
    const { host, publish } = on(hostPathNode);
    expect(await publish({ hostPath: { path: '/made/directory', type: 'DirectoryOrCreate' } })).toEqual({ ok: true, value: { path: '/made/directory' } });
    expect(await publish({ hostPath: { path: '/made/file', type: 'FileOrCreate' } })).toEqual({ ok: true, value: { path: '/made/file' } });
    expect(await host.stat('/made/directory')).toMatchObject({ type: 'directory', mode: 0o755 });
    expect(await host.stat('/made/file')).toMatchObject({ type: 'file', mode: 0o644 });
    expect(await publish({ hostPath: { path: '/made/file', type: 'DirectoryOrCreate' } })).toMatchObject({ ok: false });
  });
});

describe('files of API objects', () => {
  test('have the paths and modes of items; optional keys may be missing', async () => {
    const { host, publish, text } = on((machine) => configMapNode(around(machine)));
    const items = [
      { key: 'a.conf', path: 'etc/app.conf', mode: 0o400 },
      { key: 'raw', path: 'raw' },
      { key: 'absent', path: 'absent' },
    ];
    expect(await publish({ configMap: { name: 'settings', items } })).toMatchObject({
      ok: false,
      message: 'configmap references non-existent config key: absent',
    });
    expect(await publish({ configMap: { name: 'settings', items, optional: true, defaultMode: 0o440 } })).toMatchObject({ ok: true });
    expect(await text('etc/app.conf')).toBe('level=1');
    expect(await host.stat('/pods/data/etc/app.conf', 'follow')).toMatchObject({ mode: 0o400 });
    expect(await host.read('/pods/data/raw')).toEqual(Buffer.from([0, 1]));
    expect(await host.stat('/pods/data/raw', 'follow')).toMatchObject({ mode: 0o440 });
    expect(await publish({ configMap: { name: 'gone' } })).toMatchObject({ ok: false, message: 'configmap "gone" not found' });
  });

  test('of several sources report all errors', async () => {
    const { publish } = on((machine) => projectedNode(around(machine)));
    const wrong = [{ configMap: { name: 'one' } }, { secret: { name: 'two' } }];
    expect(await publish({ projected: { sources: wrong } })).toMatchObject({ ok: false, message: '[configmap "one" not found, secret "two" not found]' });
  });

  test('of the downward API have labels and resources of the pod', async () => {
    const { publish, text } = on((machine) => downwardApiNode(around(machine)));
    const containers = [{ name: 'app', image: 'i', resources: { limits: { cpu: '1500m' }, requests: { memory: '100Mi' } } }];
    const items = [
      labels,
      { path: 'cpu', resourceFieldRef: { containerName: 'app', resource: 'limits.cpu', divisor: '0' } },
      { path: 'memory', resourceFieldRef: { containerName: 'app', resource: 'requests.memory', divisor: '1Mi' } },
      { path: 'limit', resourceFieldRef: { containerName: 'app', resource: 'limits.memory', divisor: '1Gi' } },
    ];
    await publish({ downwardAPI: { items } }, { ...pod, spec: { containers } });
    expect(await text('about/labels')).toBe('app="web"\nb="a\\"b"');
    expect([await text('cpu'), await text('memory'), await text('limit')]).toEqual(['2', '100', '8']);
  });

  test('with a token request it once, and again before it expires', async () => {
    const { publish, text } = on((machine) => projectedNode(around(machine)));
    const source = { projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } };
    const first = await publish(source);
    const token = await text('token');
    expect(first.ok && (first.value.republishAt ?? 0) - now).toBeGreaterThan(0.7 * 3_600_000);
    await publish(source);
    expect(await text('token')).toBe(token);
    now += 0.9 * 3_600_000;
    await publish(source);
    expect(await text('token')).not.toBe(token);
  });
});

test('a tmpfs is limited by the volume, the pod and the node, whichever is least', () => {
  const limited = (...limits: readonly (string | undefined)[]) =>
    ({ spec: { containers: limits.map((memory) => ({ resources: memory === undefined ? {} : { limits: { memory } } })) } }) as unknown as Pod;
  const size = (of: Pod, limit: string | undefined) => formatQuantity(memorySize(of, limit, '1Gi'));
  expect(size(limited('100Mi', '100Mi'), undefined)).toBe(String(200 * 1024 * 1024));
  expect(size(limited('100Mi', undefined), undefined)).toBe('1Gi');
  expect(size(limited(undefined), '10Mi')).toBe('10Mi');
  expect(size(limited(undefined), '2Gi')).toBe('1Gi');
});

test('a volume has mount points for the volumes that are mounted inside of it', () => {
  const mounts = [
    { name: 'conf', mountPath: '/etc/app' },
    { name: 'more', mountPath: '/etc/app/more/deep' },
    { name: 'within', mountPath: '/etc/app/more/deep/er' },
    { name: 'other', mountPath: '/etc/apple' },
  ];
  expect(nestedMountPoints('conf', { spec: { containers: [{ name: 'app', volumeMounts: mounts }] } } as unknown as Pod)).toEqual(['more/deep']);
});

test('nested mount points of a pod with many mounts', () => {
  const mounts = Array.from({ length: 20_000 }, (_, i) => ({ name: 'conf', mountPath: `/conf/${i}` }));
  const volumeMounts = [{ name: 'conf', mountPath: '/conf' }, { name: 'conf', mountPath: `/${'a/'.repeat(400_000)}` }, ...mounts];
  expect(nestedMountPoints('conf', { spec: { containers: [{ name: 'app', volumeMounts }] } } as unknown as Pod)).toHaveLength(20_000);
});
