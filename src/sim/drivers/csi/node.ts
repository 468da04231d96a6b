import { ensureBound, mountAt, type NodeHost, removeMountPoint } from '../../../drivers/mount/node-host.ts';
import { type Node, NodeServiceCapability_RPC_Type as Rpc } from '../../../grpc/generated/csi.ts';
import type { Implementation } from '../../../grpc/service.ts';
import { RpcError } from '../../../grpc/status.ts';
import { type CsiBackend, type ReportCsiEvent, zoneKey, zoneOf } from './backend.ts';
import type { SerialCalls } from './serial-calls.ts';

export interface CsiNodeOptions {
  readonly node: string;
  readonly backend: CsiBackend;
  readonly calls: SerialCalls;
  readonly report: ReportCsiEvent;
  readonly host: NodeHost;
  /** Makes the device of a volume appear on the machine, for a driver that attaches none. */
  readonly connect: (id: string) => void;
}

/** The node service of a simulated driver on one machine. */
export class SimulatedNode {
  readonly #options: CsiNodeOptions;

  constructor(options: CsiNodeOptions) {
    this.#options = options;
  }

  service(): Implementation<typeof Node> {
    const { node, backend, calls } = this.#options;
    const { features } = backend;
    return {
      nodeGetCapabilities: async () => ({ capabilities: this.#rpcs().map((type) => ({ type: { case: 'rpc', value: { type } } })) }),
      nodeGetInfo: async () => ({
        nodeId: `${features.prefix}.${node}`,
        maxVolumesPerNode: BigInt(features.limit),
        ...(features.zones ? { accessibleTopology: { segments: { [zoneKey(features)]: zoneOf(node) } } } : {}),
      }),
      nodeStageVolume: ({ volumeId: id, stagingTargetPath: path }, call) =>
        calls.perform({ call: 'NodeStageVolume', id, key: `volume ${id}` }, call, () => this.#stage(id, path)),
      nodeUnstageVolume: ({ volumeId: id, stagingTargetPath: path }, call) =>
        calls.perform({ call: 'NodeUnstageVolume', id, key: `volume ${id}` }, call, () => this.#unstage(id, path)),
      nodePublishVolume: ({ volumeId: id, stagingTargetPath, targetPath }, call) =>
        calls.perform({ call: 'NodePublishVolume', id, key: `target ${targetPath}` }, call, () => this.#publish(id, stagingTargetPath, targetPath)),
      nodeUnpublishVolume: ({ volumeId: id, targetPath }, call) =>
        calls.perform({ call: 'NodeUnpublishVolume', id, key: `target ${targetPath}` }, call, () => this.#unpublish(id, targetPath)),
      nodeExpandVolume: ({ volumeId: id }, call) =>
        calls.perform({ call: 'NodeExpandVolume', id, key: `volume ${id}` }, call, () => ({ capacityBytes: this.#volume(id).bytes })),
    };
  }

  #rpcs(): readonly Rpc[] {
    const { stages, expansion } = this.#options.backend.features;
    return [...(stages ? [Rpc.STAGE_UNSTAGE_VOLUME] : []), ...(expansion === 'node' ? [Rpc.EXPAND_VOLUME] : [])];
  }

  #volume(id: string) {
    const { backend, report } = this.#options;
    const volume = backend.volumes.get(id);
    if (volume !== undefined) return volume;
    if (!id.startsWith(`${backend.features.prefix}.`)) report(id, { do: 'foreign', call: 'a call of a node' });
    throw new RpcError('NotFound', `there is no volume ${id}`);
  }

  #isAttached(id: string): boolean {
    const { node, backend } = this.#options;
    return !backend.features.attaches || this.#volume(id).attachedTo.has(node);
  }

  async #mount(id: string, target: string): Promise<void> {
    const { host, connect, backend } = this.#options;
    if (!backend.features.attaches) connect(id);
    await host.files.makeDirectory(target, 0o750);
    if ((await mountAt(host, target)) === undefined) await host.mounts.mount({ type: 'image', image: `/dev/${id}`, target, fileSystem: 'ext4', options: [] });
  }

  async #stage(id: string, path: string): Promise<Record<string, never>> {
    const { node, backend, report } = this.#options;
    const isAttached = this.#isAttached(id);
    report(id, { do: 'stage', node, isAttached });
    if (!isAttached) throw new RpcError('FailedPrecondition', `${id} is not attached`);
    await this.#mount(id, path);
    backend.stages.set(`${node} ${id}`, path);
    return {};
  }

  async #unstage(id: string, path: string): Promise<Record<string, never>> {
    const { node, backend, report, host } = this.#options;
    if (backend.isStaged(node, id)) report(id, { do: 'unstage', node, targets: backend.targetsOf(node, id) });
    if (backend.targetsOf(node, id).length > 0) throw new RpcError('FailedPrecondition', `${id} is published`);
    await removeMountPoint(host, path);
    backend.stages.delete(`${node} ${id}`);
    return {};
  }

  async #publish(id: string, stagingPath: string, target: string): Promise<Record<string, never>> {
    const { node, backend, report, host } = this.#options;
    const { stages } = backend.features;
    this.#volume(id);
    const isReady = stages ? backend.stages.get(`${node} ${id}`) === stagingPath : this.#isAttached(id);
    report(id, { do: 'publish', node, isReady, needs: stages ? 'stage' : 'attachment' });
    if (!isReady) throw new RpcError('FailedPrecondition', `${id} is not staged or attached`);
    if (stages) await ensureBound(host, { source: stagingPath, target, readOnly: false, options: [] });
    else await this.#mount(id, target);
    backend.publishes.set(`${node} ${target}`, id);
    return {};
  }

  async #unpublish(id: string, target: string): Promise<Record<string, never>> {
    const { node, backend, report, host } = this.#options;
    if (!id.startsWith(`${backend.features.prefix}.`)) report(id, { do: 'foreign', call: 'NodeUnpublishVolume' });
    await removeMountPoint(host, target);
    backend.publishes.delete(`${node} ${target}`);
    return {};
  }
}
