import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import {
  type CreateSnapshotRequestSchema,
  type CreateVolumeRequestSchema,
  type Snapshot,
  type Volume,
  VolumeCapability_AccessMode_Mode,
  type VolumeCapabilitySchema,
  type VolumeGroupSnapshot,
} from '../grpc/generated/csi.ts';
import type { Random, World } from '../world/world.ts';
import type { Need } from './capabilities.ts';
import type { Driver } from './driver.ts';
import type { InventorySources, Machine } from './inventory.ts';
import { Ledger } from './ledger.ts';
import type { SecretName, TestOptions } from './options.ts';
import { settle } from './settle.ts';
import { NotApplicable, Violation } from './violation.ts';

/** A request as its fields. */
type Fields<Schema extends DescMessage> = Exclude<MessageInitShape<Schema>, MessageShape<Schema>>;

export type Capability = Fields<typeof VolumeCapabilitySchema>;
export type CreateVolume = Fields<typeof CreateVolumeRequestSchema>;
export type CreateSnapshot = Fields<typeof CreateSnapshotRequestSchema>;
export type AccessMode = keyof typeof VolumeCapability_AccessMode_Mode;

/** A volume that a case created. */
export interface TestVolume {
  readonly id: string;
  readonly capacityBytes: bigint;
  readonly context: Readonly<Record<string, string>>;
  readonly capability: Capability;
  readonly request: CreateVolume;
  readonly answer: Volume;
}

/** A node: an instance of the node service. */
export interface TestNode {
  readonly id: string;
  readonly driver: Driver;
  readonly topology?: Readonly<Record<string, string>>;
}

/** How a volume is published for a pod. */
export interface PublishOptions {
  readonly capability?: Capability;
  readonly readonly?: boolean;
  readonly node?: TestNode;
}

export interface BenchContext {
  readonly driver: Driver;
  readonly nodes: readonly [TestNode, ...TestNode[]];
  readonly offered: ReadonlySet<Need>;
  readonly options: TestOptions;
  readonly machine: Machine;
  readonly world: Pick<World, 'timers' | 'clock'>;
  /** From the seed: the same choices in each run. */
  readonly random: Pick<Random, 'float'>;
  /** Files that the driver keeps when it has no volumes: its state. */
  readonly ownFiles: ReadonlySet<string>;
  /** Volumes and snapshots from before the run, by their names in an inventory: they are never deleted. */
  readonly existing: ReadonlySet<string>;
  /** Unique among all runs: names of volumes begin with it. */
  readonly runId: string;
}

/** What cases work with: the calls of a volume's life, written down in the ledger before they are made. */
export class Bench {
  readonly context: BenchContext;
  readonly ledger = new Ledger();
  readonly #publishContexts = new Map<string, Readonly<Record<string, string>>>();
  #names = 0;

  constructor(context: BenchContext) {
    this.context = context;
  }

  get driver(): Driver {
    return this.context.driver;
  }

  get node(): TestNode {
    return this.context.nodes[0];
  }

  has(need: Need): boolean {
    return this.context.offered.has(need);
  }

  /** Ends the case as not applicable. */
  require(need: Need): void {
    if (!this.has(need)) throw new NotApplicable(`the driver has no capability ${need.replace(':', ' ')}`);
  }

  secrets(name: SecretName): Readonly<Record<string, string>> {
    return this.context.options.secrets[name] ?? {};
  }

  /** A name that no volume or snapshot had. */
  newName(): string {
    this.#names++;
    return `${this.context.runId}-${this.#names}`;
  }

  inventorySources(): InventorySources {
    const { machine, offered, options } = this.context;
    return {
      machine,
      offered,
      controller: this.driver.controller,
      secrets: this.secrets('ListSnapshotsSecret'),
      folders: [options.workDir, ...options.watched],
      fileFolders: options.watched,
      ownFiles: this.context.ownFiles,
    };
  }

  capability(mode: AccessMode = 'SINGLE_NODE_WRITER', accessType = this.context.options.accessType): Capability {
    return {
      accessMode: { mode: VolumeCapability_AccessMode_Mode[mode] },
      accessType: accessType === 'block' ? { case: 'block', value: {} } : { case: 'mount', value: {} },
    };
  }

  createVolumeRequest(changes: CreateVolume = {}): CreateVolume {
    const { parameters, volumeSize } = this.context.options;
    return {
      name: this.newName(),
      capacityRange: { requiredBytes: volumeSize },
      volumeCapabilities: [this.capability()],
      parameters: { ...parameters },
      secrets: { ...this.secrets('CreateVolumeSecret') },
      ...this.#accessibility(),
      ...changes,
    };
  }

  /** The topology of the first node, if volumes have one. */
  #accessibility(): CreateVolume {
    if (this.node.topology === undefined || !this.has('plugin:VOLUME_ACCESSIBILITY_CONSTRAINTS')) return {};
    const topology = { segments: { ...this.node.topology } };
    return { accessibilityRequirements: { requisite: [topology], preferred: [topology] } };
  }

  createVolume(changes: CreateVolume = {}, capability = this.capability()): Promise<TestVolume> {
    return this.performCreateVolume(this.createVolumeRequest({ volumeCapabilities: [capability], ...changes }), capability);
  }

  /** The same request again is the same volume. */
  async performCreateVolume(request: CreateVolume, capability = this.capability()): Promise<TestVolume> {
    const key = request.name ?? '';
    // A volume whose answer was lost is created again, to learn its id, and deleted.
    const undo = async (): Promise<void> => this.deleteVolume(await this.settle(() => this.performCreateVolume(request)));
    const { volume } = await this.ledger.record({ kind: 'volume named', key, undo }, () => this.driver.controller.createVolume(request));
    if (volume === undefined) throw new Error('CreateVolume answered no volume');
    this.#refuseExisting({ kind: 'volume', id: volume.volumeId, name: key });
    const created = {
      id: volume.volumeId,
      capacityBytes: volume.capacityBytes,
      context: volume.volumeContext,
      capability,
      request,
      answer: volume,
    };
    if (volume.volumeId !== '') this.ledger.add({ kind: 'volume', key: volume.volumeId, undo: () => this.settle(() => this.deleteVolume(created)) });
    this.ledger.remove('volume named', key);
    return created;
  }

  /** What was there before the run is not the run's to delete. */
  #refuseExisting({ kind, id, name, of = `${kind} named` }: { kind: 'volume' | 'snapshot'; id: string; name: string; of?: string }): void {
    if (!this.context.existing.has(`${kind} ${id}`)) return;
    this.ledger.remove(of, name);
    throw new Violation(`the driver answers with the ${kind} ${id}, which was there before, for the new name ${name}`);
  }

  async deleteVolume(volume: Pick<TestVolume, 'id'>): Promise<void> {
    await this.driver.controller.deleteVolume({ volumeId: volume.id, secrets: { ...this.secrets('DeleteVolumeSecret') } });
    this.ledger.remove('volume', volume.id);
  }

  createSnapshotRequest(volume: Pick<TestVolume, 'id'>, changes: CreateSnapshot = {}): CreateSnapshot {
    return { name: this.newName(), sourceVolumeId: volume.id, secrets: { ...this.secrets('CreateSnapshotSecret') }, ...changes };
  }

  async performCreateSnapshot(request: CreateSnapshot): Promise<Snapshot> {
    const key = request.name ?? '';
    const undo = async (): Promise<void> => this.deleteSnapshot((await this.settle(() => this.performCreateSnapshot(request))).snapshotId);
    const { snapshot } = await this.ledger.record({ kind: 'snapshot named', key, undo }, () => this.driver.controller.createSnapshot(request));
    if (snapshot === undefined) throw new Error('CreateSnapshot answered no snapshot');
    const { snapshotId } = snapshot;
    this.#refuseExisting({ kind: 'snapshot', id: snapshotId, name: key });
    if (snapshotId !== '') this.ledger.add({ kind: 'snapshot', key: snapshotId, undo: () => this.settle(() => this.deleteSnapshot(snapshotId)) });
    this.ledger.remove('snapshot named', key);
    return snapshot;
  }

  createSnapshot(volume: Pick<TestVolume, 'id'>): Promise<Snapshot> {
    return this.performCreateSnapshot(this.createSnapshotRequest(volume));
  }

  async deleteSnapshot(snapshotId: string): Promise<void> {
    await this.driver.controller.deleteSnapshot({ snapshotId, secrets: { ...this.secrets('DeleteSnapshotSecret') } });
    this.ledger.remove('snapshot', snapshotId);
  }

  async createGroup(name: string, sourceVolumeIds: readonly string[]): Promise<VolumeGroupSnapshot> {
    const undo = async (): Promise<void> => this.deleteGroup(await this.settle(() => this.createGroup(name, sourceVolumeIds)));
    const secrets = { ...this.secrets('CreateVolumeGroupSnapshotSecret') };
    const { groupSnapshot } = await this.ledger.record({ kind: 'group snapshot named', key: name, undo }, () =>
      this.driver.group.createVolumeGroupSnapshot({ name, sourceVolumeIds: [...sourceVolumeIds], secrets }),
    );
    if (groupSnapshot === undefined) throw new Error('CreateVolumeGroupSnapshot answered no group snapshot');
    for (const { snapshotId } of groupSnapshot.snapshots) this.#refuseExisting({ kind: 'snapshot', id: snapshotId, name, of: 'group snapshot named' });
    this.ledger.add({ kind: 'group snapshot', key: groupSnapshot.groupSnapshotId, undo: () => this.settle(() => this.deleteGroup(groupSnapshot)) });
    this.ledger.remove('group snapshot named', name);
    return groupSnapshot;
  }

  async deleteGroup({ groupSnapshotId, snapshots }: Pick<VolumeGroupSnapshot, 'groupSnapshotId' | 'snapshots'>): Promise<void> {
    const secrets = { ...this.secrets('DeleteVolumeGroupSnapshotSecret') };
    await this.driver.group.deleteVolumeGroupSnapshot({ groupSnapshotId, snapshotIds: snapshots.map(({ snapshotId }) => snapshotId), secrets });
    this.ledger.remove('group snapshot', groupSnapshotId);
  }

  async attach(volume: TestVolume, { node = this.node, capability = volume.capability, readonly = false }: PublishOptions = {}): Promise<void> {
    const key = `${volume.id} at ${node.id}`;
    const request = {
      volumeId: volume.id,
      nodeId: node.id,
      volumeCapability: capability,
      readonly,
      secrets: { ...this.secrets('ControllerPublishVolumeSecret') },
      volumeContext: { ...volume.context },
    };
    const undo = (): Promise<void> => this.settle(() => this.detach(volume, node));
    const { publishContext } = await this.ledger.record({ kind: 'attached', key, undo }, () => this.driver.controller.controllerPublishVolume(request));
    this.#publishContexts.set(key, publishContext);
  }

  async detach(volume: Pick<TestVolume, 'id'>, node: Pick<TestNode, 'id'> = this.node): Promise<void> {
    const secrets = { ...this.secrets('ControllerUnpublishVolumeSecret') };
    await this.driver.controller.controllerUnpublishVolume({ volumeId: volume.id, nodeId: node.id, secrets });
    this.ledger.remove('attached', `${volume.id} at ${node.id}`);
  }

  stagingPath(volume: Pick<TestVolume, 'id'>, node: TestNode = this.node): string {
    return `${this.context.options.workDir}/${this.#folderOf(node)}/stage-${fileNameOf(volume.id)}`;
  }

  targetPath(volume: Pick<TestVolume, 'id'>, pod: string, node: TestNode = this.node): string {
    return `${this.context.options.workDir}/${this.#folderOf(node)}/${pod}-${fileNameOf(volume.id)}/mount`;
  }

  async stage(volume: TestVolume, { node = this.node, capability = volume.capability }: PublishOptions = {}): Promise<void> {
    const { files } = this.context.machine;
    const stagingTargetPath = this.stagingPath(volume, node);
    await files.makeDirectory(stagingTargetPath, 0o750);
    const undo = async (): Promise<void> => {
      await this.settle(() => this.unstage(volume, node));
      await files.removeTree(stagingTargetPath);
    };
    const request = {
      volumeId: volume.id,
      publishContext: { ...this.#publishContexts.get(`${volume.id} at ${node.id}`) },
      stagingTargetPath,
      volumeCapability: capability,
      secrets: { ...this.secrets('NodeStageVolumeSecret') },
      volumeContext: { ...volume.context },
    };
    await this.ledger.record({ kind: 'staged', key: stagingTargetPath, undo }, () => node.driver.node.nodeStageVolume(request));
  }

  /** The folder stays: the caller of NodeStageVolume made it. */
  async unstage(volume: Pick<TestVolume, 'id'>, node: TestNode = this.node): Promise<void> {
    const stagingTargetPath = this.stagingPath(volume, node);
    await node.driver.node.nodeUnstageVolume({ volumeId: volume.id, stagingTargetPath });
    this.ledger.change('staged', stagingTargetPath, () => this.context.machine.files.removeTree(stagingTargetPath));
  }

  async publish(volume: TestVolume, pod = 'pod', { node = this.node, capability = volume.capability, readonly = false }: PublishOptions = {}): Promise<void> {
    const { files } = this.context.machine;
    const targetPath = this.targetPath(volume, pod, node);
    const parent = parentOf(targetPath);
    await files.makeDirectory(parent, 0o750);
    const undo = async (): Promise<void> => {
      await this.settle(() => this.unpublish(volume, pod, node));
      await files.removeTree(parent);
    };
    const request = {
      volumeId: volume.id,
      publishContext: { ...this.#publishContexts.get(`${volume.id} at ${node.id}`) },
      ...(this.has('node:STAGE_UNSTAGE_VOLUME') ? { stagingTargetPath: this.stagingPath(volume, node) } : {}),
      targetPath,
      volumeCapability: capability,
      readonly,
      secrets: { ...this.secrets('NodePublishVolumeSecret') },
      volumeContext: { ...volume.context },
    };
    await this.ledger.record({ kind: 'published', key: targetPath, undo }, () => node.driver.node.nodePublishVolume(request));
  }

  async unpublish(volume: Pick<TestVolume, 'id'>, pod = 'pod', node: TestNode = this.node): Promise<void> {
    const targetPath = this.targetPath(volume, pod, node);
    await node.driver.node.nodeUnpublishVolume({ volumeId: volume.id, targetPath });
    this.ledger.change('published', targetPath, () => this.context.machine.files.removeTree(parentOf(targetPath)));
  }

  /** A volume that NodePublishVolume may be called for. */
  async readyToPublish(volume: TestVolume, options: PublishOptions = {}): Promise<TestVolume> {
    if (this.has('controller:PUBLISH_UNPUBLISH_VOLUME')) await this.attach(volume, options);
    if (this.has('node:STAGE_UNSTAGE_VOLUME')) await this.stage(volume, options);
    return volume;
  }

  /** Calls as the CO does: again and again while the failure is not final, as long as `timeoutMs`. */
  settle<T>(call: () => Promise<T>): Promise<T> {
    return settle(call, { ...this.context.world, timeoutMs: this.context.options.timeoutMs });
  }

  #folderOf(node: TestNode): string {
    return `n${this.context.nodes.indexOf(node)}`;
  }
}

const parentOf = (file: string): string => file.slice(0, file.lastIndexOf('/'));

/** Volume ids may contain slashes and be long. */
const fileNameOf = (volumeId: string): string => volumeId.replaceAll(/[^\w.-]/g, '_').slice(-48);
