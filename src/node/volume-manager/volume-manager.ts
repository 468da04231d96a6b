import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { secretKind } from '../../api/kinds/core/secret.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import { resizeStatusOf } from '../../storage/volumes/resize-status.ts';
import type { NodeDriver, VolumeStats } from '../../drivers/contract.ts';
import { type Change, type Index, keyOf } from '../../client/informers/cache.ts';
import { Trigger, type Controller, type Outcome, type Source, source } from '../../client/controller/loop.ts';
import { RecentMap } from '../../client/recent-map.ts';
import type { Client } from '../../client/client.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { Disk } from '../../world/disk.ts';
import type { HostFiles, Mounts } from '../../world/mounts.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { ContainerMounts, PodMounts, PodActivity, PodMountState } from '../contract.ts';
import type { NodeCaches } from '../cache/node-caches.ts';
import { podSources } from '../cache/sources.ts';
import type { Host } from '../host.ts';
import type { VolumesInUse } from '../volumes-in-use.ts';
import { configOfVolume } from '../volumes/config-references.ts';
import { usedVolumes } from '../volumes/used-volumes.ts';
import { type MountWaitState, notWaiting } from '../volumes/mount-events.ts';
import type { VolumeAction, VolumeOperation } from './actions.ts';
import { ActualState, type ActualVolume } from './actual-state.ts';
import { containerMounts } from './container-mounts.ts';
import { reconcileVolumes, type PodVolumesSnapshot } from './reconcile.ts';
import { Journal } from './journal.ts';
import { cleanPodDirectory, podsOnDisk } from './orphaned-pods.ts';
import { Operations } from './operations.ts';
import { DesiredState } from './desired-state.ts';
import { VolumeHealthMonitor } from './volume-health-monitor.ts';

export interface VolumeManagerOptions {
  readonly world: World;
  readonly machine: { readonly mounts: Mounts; readonly files: HostFiles };
  readonly disk: Disk;
  /** The node's directory, absolute and without links. */
  readonly root: string;
  readonly host: Host;
  readonly caches: NodeCaches;
  readonly inUse: VolumesInUse;
  /** The node's own. */
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly drivers: readonly NodeDriver[];
  /** For drivers that are known only once a volume names them. */
  readonly findDriver?: (name: string) => NodeDriver | undefined;
  readonly podActivity: PodActivity;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** The key of the volumes that no pod uses. */
const nodeKey = '';

/**
 * The kubelet's volume manager: mounts the volumes of one node's pods, and unmounts those that no pod needs. Keys are uids of pods. Mounts
 * outlive the process: the next one finds them in the journal and verifies them.
 */
export class VolumeManager implements PodMounts {
  readonly #options: VolumeManagerOptions;
  readonly #journal: Journal;
  readonly #actual: ActualState;
  readonly #operations: Operations;
  readonly #desired: DesiredState;
  readonly #trigger = new Trigger<string>();
  readonly #listeners = new Set<(uid: string) => void>();
  readonly #health: VolumeHealthMonitor;
  readonly #memories = new RecentMap<string, MountWaitState>(remembered);
  /** uids that have a directory on the node. */
  readonly #directories: Set<string>;
  /** Pods with volumes made of a ConfigMap or Secret, by that object. */
  readonly #followers: Index<Pod>;
  readonly #driverOf: (name: string) => NodeDriver | undefined;
  readonly controller: Controller<string, PodVolumesSnapshot, VolumeAction>;

  /** Reads the journal of an earlier agent. */
  static async open(options: VolumeManagerOptions): Promise<VolumeManager> {
    const { disk, root, world, machine } = options;
    const journal = await Journal.open({ disk, directory: `${root}/journal`, log: world.log });
    return new VolumeManager(options, journal, new Set(await podsOnDisk(machine, root)));
  }

  private constructor(options: VolumeManagerOptions, journal: Journal, directories: Set<string>) {
    this.#options = options;
    this.#journal = journal;
    this.#directories = directories;
    this.#actual = actualOf(journal);
    const { caches, host, world, client, recorder, inUse, root, machine } = options;
    const drivers = new Map(options.drivers.map((driver) => [driver.capabilities.name, driver]));
    const driverOf = (name: string) => drivers.get(name) ?? options.findDriver?.(name);
    this.#driverOf = driverOf;
    this.#operations = new Operations({
      host: machine,
      root,
      journal,
      actual: this.#actual,
      driver: driverOf,
      client,
      recorder,
      nodeName: host.name,
      clock: world.clock,
      log: world.log,
      mayMount: (volume) => inUse.mayMount(host.name, volume),
      onEnd: (operation, waiting) => this.#ended(operation, waiting),
    });
    this.#desired = new DesiredState({ ...options, actual: this.#actual, operations: this.#operations, driver: driverOf });
    this.#health = new VolumeHealthMonitor({
      timers: world.timers,
      recorder,
      driver: driverOf,
      pods: () => this.#desired.pods(),
      volumesOf: (uid) => this.#actual.ofPod(uid),
    });
    this.#followers = caches.pods.addIndex(filesOfPod);
    this.controller = {
      name: 'volume-manager',
      parallelism: 32,
      sources: [...this.#sources(), this.#trigger],
      snapshot: (key) => this.#snapshot(key),
      decide: reconcileVolumes,
      perform: (action) => this.#perform(action),
    };
  }

  mountState(pod: Stored<Pod>): PodMountState {
    const { uid } = pod.metadata;
    const all = usedVolumes(pod).map(({ volume: { name } }) => ({ name, actual: this.#actual.get(`${uid}/${name}`) }));
    const waiting = all.flatMap(({ name, actual }) => (actual?.mounted === undefined ? [name] : []));
    if (waiting.length > 0) return { ready: false, waiting, rejected: this.#memories.get(uid)?.rejected };
    return {
      ready: true,
      mounts: new Map(all.flatMap(({ name, actual }) => (actual?.mounted === undefined ? [] : [[name, actual.mounted]]))),
      supplementalGroups: [...new Set(all.flatMap(({ actual }) => actual?.group ?? []))].sort((a, b) => a - b),
    };
  }

  containerMounts(...[pod, container, expand]: Parameters<PodMounts['containerMounts']>): Promise<ContainerMounts> {
    const { machine, root } = this.#options;
    return containerMounts({ host: machine, root, pod, container, volumes: this.mountState(pod), expand });
  }

  async usedBytes({ metadata: { uid } }: Stored<Pod>, volume: string): Promise<number | undefined> {
    const mounted = this.#actual.get(`${uid}/${volume}`)?.mounted;
    if (mounted?.mode !== 'Filesystem') return undefined;
    return this.#options.machine.files.treeSize(mounted.hostPath).then(
      ({ bytes }) => bytes,
      () => undefined,
    );
  }

  /** Usage of the pod's mounted volumes, by their names in the pod. A volume whose usage is unknown is left out. */
  async usage(pod: Stored<Pod>): Promise<ReadonlyMap<string, VolumeStats>> {
    const volumes = [...this.#actual.ofPod(pod.metadata.uid)];
    const all = await Promise.all(volumes.map(async (volume) => [volume.record.podVolume, await this.#usageOf(volume)] as const));
    for (const [name, stats] of all) if (stats?.health !== undefined) this.#health.report(pod, name, stats.health);
    return new Map(all.flatMap(([name, stats]) => (stats === undefined ? [] : [[name, stats]])));
  }

  async #usageOf({ record, mounted }: ActualVolume): Promise<VolumeStats | undefined> {
    if (mounted === undefined) return undefined;
    const { hostPath, mode } = mounted;
    const driver = mode === 'Block' ? undefined : this.#driverOf(record.driver);
    if (driver?.nodeGetVolumeStats === undefined) return this.#options.machine.files.usage(hostPath).catch(() => undefined);
    const answer = await driver.nodeGetVolumeStats(hostPath);
    return answer.ok ? answer.value : undefined;
  }

  pods(): readonly Stored<Pod>[] {
    return this.#desired.pods();
  }

  podStopped(uid: string): void {
    this.#trigger.fire(uid);
    // A volume may be staged for the pod alone, and not be published yet.
    this.#trigger.fire(nodeKey);
  }

  isUnmounted(uid: string): boolean {
    return !this.#actual.hasPod(uid);
  }

  subscribe(listener: (uid: string) => void): Cancel {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Volumes that are mounted, or may be, as node statuses name them. */
  attachedVolumes(): ReadonlySet<string> {
    return this.#actual.attachedVolumes();
  }

  /** The node's status was sent: volumes that it lists may be mounted. */
  onStatusReported(): void {
    for (const pod of this.#desired.pods()) this.#trigger.fire(pod.metadata.uid);
  }

  /** A CSI driver is registered: what failed without it is tried again now. */
  onDriverRegistered(driver: string): void {
    this.#operations.retryNow(driver);
    for (const uid of new Set([...this.#actual.pods(), ...this.#desired.pods().map(({ metadata }) => metadata.uid), nodeKey])) this.#trigger.fire(uid);
  }

  async stop(): Promise<void> {
    this.#health.stop();
    await this.#operations.stop();
    await this.#journal.close();
  }

  #snapshot(key: string): PodVolumesSnapshot | undefined {
    if (key === nodeKey) return this.#desired.orphanedSnapshot();
    const snapshot = this.#desired.podSnapshot(key, this.#directories.has(key));
    if (snapshot?.type !== 'wanted') return snapshot;
    this.#logDesired(snapshot);
    return { ...snapshot, memory: this.#memories.get(key) ?? notWaiting };
  }

  /** Once for each pod, in the words of the kubelet's log. */
  #logDesired({ pod, volumes }: Extract<PodVolumesSnapshot, { type: 'wanted' }>): void {
    const { log } = this.#options.world;
    const { uid } = pod.metadata;
    if (this.#memories.get(uid) !== undefined || volumes.some(({ volume }) => volume === undefined)) return;
    this.#memories.set(uid, notWaiting);
    if (!log.debugs) return;
    for (const { volume } of volumes) {
      if (volume === undefined) continue;
      const about = { volume: volume.podVolume, volumeSpec: volume.onNode.name, uniqueName: volume.uniqueName, pod: keyOf(pod.metadata), podUID: uid };
      log.debug('Added volume to desired state', about);
      log.debug('operationExecutor.VerifyControllerAttachedVolume started for volume', about);
    }
  }

  async #perform(action: VolumeAction): Promise<Outcome> {
    switch (action.do) {
      case 'stage':
      case 'publish':
        this.#directories.add(action.volume.podUid);
        this.#operations.start(action);
        return 'done';
      case 'expand':
      case 'unpublish':
      case 'unstage':
        this.#operations.start(action);
        return 'done';
      case 'clean':
        return this.#clean(action.uid);
      case 'record-event':
        this.#options.recorder.record(action.pod, { type: 'Warning', reason: action.reason, message: action.message }, this.#options.host.name);
        return 'done';
      case 'remember':
        this.#memories.set(action.pod.metadata.uid, action.mounts);
        if (action.mounts.rejected !== undefined) this.#tell(action.pod.metadata.uid);
        return 'done';
    }
  }

  async #clean(uid: string): Promise<Outcome> {
    const { machine, root } = this.#options;
    try {
      await cleanPodDirectory(machine, root, uid);
    } catch (error) {
      return { retry: error instanceof Error ? error.message : String(error) };
    }
    this.#directories.delete(uid);
    return 'done';
  }

  #ended(operation: VolumeOperation, waiting: Iterable<string>): void {
    for (const uid of waiting) this.#trigger.fire(uid);
    if (operation.do === 'unstage' && operation.waits !== undefined) this.#trigger.fire(operation.waits);
    if (operation.do === 'unstage') {
      this.#trigger.fire(nodeKey);
      // The pod may be gone since the volume was unpublished: without this, the node's status would keep the volume in volumesInUse.
      return this.#tell(nodeKey);
    }
    const uid = operation.do === 'unpublish' ? operation.record.podUid : operation.volume.podUid;
    this.#trigger.fire(uid);
    // The pod may be gone meanwhile.
    if (operation.do === 'stage') this.#trigger.fire(nodeKey);
    if (operation.do === 'unpublish') {
      if (operation.record.stagingPath !== undefined) this.#trigger.fire(nodeKey);
      if (operation.record.claim !== undefined) for (const user of this.#usersOf(operation.record.claim)) this.#trigger.fire(user);
    }
    if (operation.do === 'publish' && this.#actual.get(`${uid}/${operation.volume.podVolume}`)?.record.csi !== undefined) this.#health.start();
    if (operation.do === 'publish' && this.mountState(operation.pod).ready) {
      const { log } = this.#options.world;
      log.debug('All volumes are attached and mounted for pod', { pod: keyOf(operation.pod.metadata), podUID: uid });
    }
    this.#tell(uid);
  }

  #tell(uid: string): void {
    for (const listener of this.#listeners) listener(uid);
  }

  /** Everything that an earlier agent left, once; then every change that concerns a pod of the node. */
  #sources(): readonly Source<string>[] {
    const { caches } = this.#options;
    const left = new Set([...this.#directories, ...this.#actual.pods(), nodeKey]);
    const found: Source<string> = {
      subscribe: (_, add) => {
        for (const uid of left) add(uid);
        return () => undefined;
      },
    };
    const waiting = podSources(caches).map((each) => byUid(each, caches));
    return [
      found,
      ...waiting,
      source(podKind, (change) => this.#follow(change)),
      source(persistentVolumeClaimKind, ({ before, after }) => (after === undefined || !isToGrow(before, after) ? [] : this.#usersOf(keyOf(after.metadata)))),
      source(persistentVolumeKind, ({ before, after }) => (saysTheSameSize(before, after) ? [] : this.#usersOf(keyOf(after?.spec.claimRef ?? {})))),
      source(configMapKind, (change) => this.#refresh(`configmap ${keyed(change)}`)),
      source(secretKind, (change) => this.#refresh(`secret ${keyed(change)}`)),
    ];
  }

  #usersOf(claim: string): readonly string[] {
    return this.#desired.usersOf(claim).map(({ metadata }) => metadata.uid);
  }

  /** Both: a pod of the same name may have replaced another. */
  #follow({ before, after }: Change<Pod>): readonly string[] {
    const uids = new Set([before, after].flatMap((pod) => (pod === undefined ? [] : pod.metadata.uid)));
    const mine = [...uids].filter((uid) => this.#actual.hasPod(uid) || this.#directories.has(uid) || this.#desired.has(uid));
    if (before !== undefined && after !== undefined && !saysTheSame(before, after)) this.#makeStale(after);
    return mine;
  }

  #refresh(object: string): readonly string[] {
    const pods = this.#followers.get(object).filter(({ metadata }) => this.#actual.hasPod(metadata.uid));
    for (const pod of pods) this.#makeStale(pod);
    return pods.map(({ metadata }) => metadata.uid);
  }

  #makeStale({ metadata: { uid } }: Stored<Pod>): void {
    for (const volume of this.#actual.ofPod(uid)) if (this.#follows(volume)) volume.stale = true;
  }

  #follows({ record }: ActualVolume): boolean {
    return this.#options.drivers.some(({ capabilities: facts }) => facts.name === record.driver && facts.requiresRemount);
  }
}

const remembered = 10_000;

function actualOf(journal: Journal): ActualState {
  const actual = new ActualState();
  for (const record of journal.records) {
    if (record.type === 'published') actual.expect(record, true);
    else actual.expectStaged(record);
  }
  return actual;
}

const keyed = ({ before, after }: Change<KubeObject>): string => keyOf((after ?? before)?.metadata ?? {});

/** A mounted volume may wait for its expansion on the node. */
const isToGrow = (before: PersistentVolumeClaim | undefined, after: PersistentVolumeClaim): boolean =>
  resizeStatusOf(after) === 'NodeResizePending' && (before === undefined || resizeStatusOf(before) !== 'NodeResizePending');

const saysTheSameSize = (before: PersistentVolume | undefined, after: PersistentVolume | undefined): boolean =>
  before === undefined || after === undefined || before.spec.capacity?.['storage'] === after.spec.capacity?.['storage'];

/** What the downward API shows of a pod. */
const saysTheSame = (a: Pod, b: Pod): boolean => semanticallyEqual([a.metadata.labels, a.metadata.annotations], [b.metadata.labels, b.metadata.annotations]);

/** An index function: the ConfigMaps and Secrets of a pod's volumes. */
function filesOfPod({ metadata: { namespace = '' }, spec }: Pod): readonly string[] {
  if (spec.nodeName === undefined) return [];
  return (spec.volumes ?? []).flatMap(configOfVolume).map(({ kind, name }) => `${kind} ${namespace}/${name}`);
}

/** The same source, with the pod's uid as the key instead of its name. */
function byUid(sources: Source<string>, caches: NodeCaches): Source<string> {
  return {
    subscribe: (informers, add) =>
      sources.subscribe(informers, (key) => {
        const uid = caches.pods.getKey(key)?.metadata.uid;
        if (uid !== undefined) add(uid);
      }),
  };
}
