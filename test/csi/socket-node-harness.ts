/** The CSI node of a simulated machine, whose driver is a server behind a real socket. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CSIDriver, PersistentVolume, Pod, Secret } from '../../src/api/generated/types.ts';
import type { CsiSocket, NodeDriver, NodePublishVolumeRequest, VolumeOnNode } from '../../src/drivers/contract.ts';
import type { CsiSocketOptions } from '../../src/drivers/csi/node-calls.ts';
import { csiNode } from '../../src/drivers/csi/node.ts';
import { Http2Channel } from '../../src/grpc/http2-channel.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { Machine, SimulatedHost } from '../../src/sim/host/simulated-host.ts';
import { Deadlines } from './deadlines.ts';
import { FakeCsiDriver, type FakeDriverOptions } from './fake-driver.ts';

export const world = createRealWorld({ logLevel: 'error' });
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
export const root = '/node';
export const staging = `${root}/plugins/kubernetes.io/csi/fake.example.com/${sha256('vol-1')}/globalmount`;
export const target = `${root}/pods/uid-1/volumes/kubernetes.io~csi/pv-1`;
export const done = { ok: true, value: undefined };

export class SocketNodeHarness {
  readonly #directory = mkdtempSync(path.join(tmpdir(), 'moor-csi-'));
  readonly host = new SimulatedHost(new Machine());
  readonly machine = { mounts: this.host, files: this.host };
  readonly deadlines = new Deadlines(world.timers);
  readonly channel = new Http2Channel({ address: `unix://${path.join(this.#directory, 'csi.sock')}`, timers: this.deadlines });
  driver = new FakeCsiDriver({ host: this.machine, directory: '/content' });
  isRegistered = true;
  /** The spec of its CSIDriver; undefined: there is none. */
  object: CSIDriver['spec'] | undefined;
  readonly secrets = new Map<string, Secret>();
  #tokens = 0;

  async start(options: Partial<FakeDriverOptions> = {}): Promise<NodeDriver> {
    this.driver = new FakeCsiDriver({ host: this.machine, directory: '/content', ...options });
    await this.driver.listen(path.join(this.#directory, 'csi.sock'));
    return this.node();
  }

  /** As after a restart of the agent. */
  node(more: Partial<CsiSocketOptions> = {}): NodeDriver {
    const socket: CsiSocket = { channel: this.channel, pathInDriver: (each) => each };
    const spec = (): CSIDriver['spec'] | undefined => this.object;
    const csiDriver = (name: string): CSIDriver | undefined => {
      const found = spec();
      return found === undefined ? undefined : { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name }, spec: found };
    };
    return csiNode(this.machine, [], {
      ...this.machine,
      clock: world.clock,
      root,
      nodeName: 'node-1',
      sha256,
      secret: (key) => this.secrets.get(key),
      csiDriver,
      csiSocket: (name) => (this.isRegistered && name === 'fake.example.com' ? socket : undefined),
      token: async (_, { audience }) => ({ ok: true, value: { token: `token ${++this.#tokens} for ${audience}`, expires: world.clock.now() + 3_600_000 } }),
      ...more,
    });
  }

  async json(file: string): Promise<unknown> {
    return JSON.parse(new TextDecoder().decode(await this.host.read(file)));
  }

  async exists(file: string): Promise<boolean> {
    return (await this.host.stat(file)) !== undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.channel.close();
    await this.driver[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

export const pod = (spec: Partial<Pod['spec']> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'uid-1' },
  spec: { containers: [], serviceAccountName: 'robot', ...spec },
  status: {},
});

export function volume(spec: Partial<PersistentVolume['spec']> = {}, more: Partial<VolumeOnNode> = {}): VolumeOnNode {
  const csi = { driver: 'fake.example.com', volumeHandle: 'vol-1', ...spec.csi };
  const persistentVolume: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pv-1' },
    spec: { accessModes: ['ReadWriteOnce'], ...spec, csi },
    status: {},
  };
  const mode = spec.volumeMode === 'Block' ? 'Block' : 'Filesystem';
  return { name: 'pv-1', source: { csi }, persistentVolume, readOnly: false, mountOptions: [], mode, publishContext: { disk: 'sdb' }, ...more };
}

export const inline = (more: object = {}): VolumeOnNode => ({
  name: 'scratch',
  source: { csi: { driver: 'fake.example.com', volumeAttributes: { size: '1' }, ...more } },
  persistentVolume: undefined,
  readOnly: false,
  mountOptions: [],
  mode: 'Filesystem',
  publishContext: {},
});

export const request = (of: VolumeOnNode, more: Partial<NodePublishVolumeRequest> = {}): NodePublishVolumeRequest => ({
  volume: of,
  pod: pod(),
  target,
  stagingPath: staging,
  recordEvent: () => undefined,
  ...more,
});
