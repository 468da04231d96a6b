import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import { configMapKind } from '../../api/kinds/config-map.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/persistent-volume.ts';
import { secretKind } from '../../api/kinds/secret.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import type { KubeObject } from '../../api/object.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import { stageOf } from '../../domain/volumes/growth-status.ts';
import type { NodeDriver } from '../../drivers/contract.ts';
import { type Change, type Index, keyOf } from '../../machinery/cache.ts';
import { Bell, type Controller, type Outcome, type Source, source } from '../../machinery/loop.ts';
import { RecentMap } from '../../machinery/recent-map.ts';
import type { Client } from '../../machinery/client.ts';
import type { Recorder } from '../../machinery/recorder.ts';
import type { Disk } from '../../world/disk.ts';
import type { HostFiles, Mounts, Usage } from '../../world/mounts.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { ContainerMounts, PodVolumes, Tenants, VolumesOfPod } from '../contract.ts';
import type { Holdings } from '../holdings.ts';
import type { View } from '../sight/view.ts';
import { podWakes } from '../sight/wakes.ts';
import type { Host } from '../host.ts';
import { filesOfVolume } from '../volumes/files.ts';
import { usedVolumes } from '../volumes/used.ts';
import { type MountMemory, noMountMemory } from '../volumes/waiting.ts';
import type { Action, Operation } from './actions.ts';
import { Actual, type ActualVolume } from './actual.ts';
import { containerMounts } from './container-mounts.ts';
import { diffVolumes, type Sight } from './diff.ts';
import { Journal } from './journal.ts';
import { cleanPodDirectory, podsOnDisk } from './leftovers.ts';
import { Operations } from './operations.ts';
import { Sights } from './sights.ts';

export interface KeeperOptions {
  readonly world: World;
  readonly machine: { readonly mounts: Mounts; readonly files: HostFiles };
  readonly disk: Disk;
  /** The node's directory, absolute and without links. */
  readonly root: string;
  readonly host: Host;
  readonly view: View;
  readonly holdings: Holdings;
  /** The node's own. */
  readonly client: Client;
  readonly recorder: Recorder;
  readonly drivers: readonly NodeDriver[];
  /** Those that nobody knows before a volume names them. */
  readonly findDriver?: (name: string) => NodeDriver | undefined;
  readonly tenants: Tenants;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** Stands for the volumes of the node that no pod uses. */
const nobody = '';

/**
 * Keeps the volumes of one node's pods mounted, and unmounts what no pod needs. Keys are uids of pods. What it mounts outlives it: the next one
 * finds it in the journal, looks at it once more, and goes on.
 */
export class VolumeKeeper implements PodVolumes {
  readonly #options: KeeperOptions;
  readonly #journal: Journal;
  readonly #actual: Actual;
  readonly #operations: Operations;
  readonly #sights: Sights;
  readonly #bell = new Bell<string>();
  readonly #listeners = new Set<(uid: string) => void>();
  readonly #memories = new RecentMap<string, MountMemory>(remembered);
  /** uids that have a directory on the node. */
  readonly #directories: Set<string>;
  /** Pods whose files are made of an object, by that object. */
  readonly #followers: Index<Pod>;
  readonly #driverOf: (name: string) => NodeDriver | undefined;
  readonly controller: Controller<string, Sight, Action>;

  /** Reads what an earlier agent left. */
  static async open(options: KeeperOptions): Promise<VolumeKeeper> {
    const { disk, root, world, machine } = options;
    const journal = await Journal.open({ disk, directory: `${root}/journal`, log: world.log });
    return new VolumeKeeper(options, journal, new Set(await podsOnDisk(machine, root)));
  }

  private constructor(options: KeeperOptions, journal: Journal, directories: Set<string>) {
    this.#options = options;
    this.#journal = journal;
    this.#directories = directories;
    this.#actual = actualOf(journal);
    const { view, host, world, client, recorder, holdings, root, machine } = options;
    const drivers = new Map(options.drivers.map((driver) => [driver.facts.name, driver]));
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
      mayMount: (volume) => holdings.mayMount(host.name, volume),
      onEnd: (operation, waiting) => this.#ended(operation, waiting),
    });
    this.#sights = new Sights({ ...options, actual: this.#actual, operations: this.#operations, driver: driverOf });
    this.#followers = view.pods.addIndex(filesOfPod);
    this.controller = {
      name: 'volume-keeper',
      parallelism: 32,
      sources: [...this.#wakes(), this.#bell],
      snapshot: (key) => this.#look(key),
      decide: diffVolumes,
      perform: (action) => this.#perform(action),
    };
  }

  look(pod: Pod): VolumesOfPod {
    const { uid = '' } = pod.metadata;
    const all = usedVolumes(pod).map(({ volume: { name } }) => ({ name, actual: this.#actual.get(`${uid}/${name}`) }));
    const waiting = all.flatMap(({ name, actual }) => (actual?.mounted === undefined ? [name] : []));
    if (waiting.length > 0) return { ready: false, waiting };
    return {
      ready: true,
      mounts: new Map(all.flatMap(({ name, actual }) => (actual?.mounted === undefined ? [] : [[name, actual.mounted]]))),
      supplementalGroups: [...new Set(all.flatMap(({ actual }) => actual?.group ?? []))].sort((a, b) => a - b),
    };
  }

  containerMounts(...[pod, container, expand]: Parameters<PodVolumes['containerMounts']>): Promise<ContainerMounts> {
    const { machine, root } = this.#options;
    return containerMounts({ host: machine, root, pod, container, volumes: this.look(pod), expand });
  }

  async usedBytes({ metadata: { uid = '' } }: Pod, volume: string): Promise<number | undefined> {
    const mounted = this.#actual.get(`${uid}/${volume}`)?.mounted;
    if (mounted?.mode !== 'Filesystem') return undefined;
    return this.#options.machine.files.treeSize(mounted.hostPath).then(
      ({ bytes }) => bytes,
      () => undefined,
    );
  }

  /** How full the volumes are that the pod has mounted, by their names in it. One that cannot tell is left out. */
  async usage({ metadata: { uid = '' } }: Pod): Promise<ReadonlyMap<string, Usage>> {
    const all = await Promise.all([...this.#actual.ofPod(uid)].map(async (volume) => [volume.record.podVolume, await this.#usageOf(volume)] as const));
    return new Map(all.flatMap(([name, usage]) => (usage === undefined ? [] : [[name, usage]])));
  }

  async #usageOf({ record, mounted }: ActualVolume): Promise<Usage | undefined> {
    if (mounted === undefined) return undefined;
    const { hostPath, mode } = mounted;
    const driver = mode === 'Block' ? undefined : this.#driverOf(record.driver);
    if (driver?.stats === undefined) return this.#options.machine.files.usage(hostPath).catch(() => undefined);
    const answer = await driver.stats(hostPath);
    return answer.ok ? answer.value : undefined;
  }

  /** The pods of the node. */
  pods(): readonly Pod[] {
    return this.#sights.pods();
  }

  vacated(uid: string): void {
    this.#bell.ring(uid);
  }

  isVacant(uid: string): boolean {
    return !this.#actual.hasPod(uid);
  }

  subscribe(listener: (uid: string) => void): Cancel {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** As node statuses call them: those that are mounted, or may be. */
  attached(): ReadonlySet<string> {
    return this.#actual.attached();
  }

  /** The node stands by what its status says: volumes that waited for that may be mounted. */
  reported(): void {
    for (const pod of this.#sights.pods()) this.#bell.ring(pod.metadata.uid ?? '');
  }

  async stop(): Promise<void> {
    await this.#operations.stop();
    await this.#journal.close();
  }

  #look(key: string): Sight | undefined {
    if (key === nobody) return this.#sights.unused();
    const sight = this.#sights.pod(key, this.#directories.has(key));
    if (sight?.type !== 'stays') return sight;
    this.#noteDesired(sight);
    return { ...sight, memory: this.#memories.get(key) ?? noMountMemory };
  }

  /** Once for each pod: what it wants, for people who follow it. */
  #noteDesired({ pod, volumes }: Extract<Sight, { type: 'stays' }>): void {
    const { log } = this.#options.world;
    const { uid = '' } = pod.metadata;
    if (this.#memories.get(uid) !== undefined || volumes.some(({ volume }) => volume === undefined)) return;
    this.#memories.set(uid, noMountMemory);
    if (!log.debugs) return;
    for (const { volume } of volumes) {
      if (volume === undefined) continue;
      const about = { volume: volume.podVolume, volumeSpec: volume.onNode.name, uniqueName: volume.uniqueName, pod: keyOf(pod.metadata), podUID: uid };
      log.debug('Added volume to desired state', about);
      log.debug('operationExecutor.VerifyControllerAttachedVolume started for volume', about);
    }
  }

  async #perform(action: Action): Promise<Outcome> {
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
      case 'tell':
        this.#options.recorder.record(action.pod, { type: 'Warning', reason: action.reason, message: action.message }, this.#options.host.name);
        return 'done';
      case 'remember':
        this.#memories.set(action.pod.metadata.uid ?? '', action.mounts);
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

  #ended(operation: Operation, waiting: Iterable<string>): void {
    for (const uid of waiting) this.#bell.ring(uid);
    if (operation.do === 'unstage' && operation.waits !== undefined) this.#bell.ring(operation.waits);
    if (operation.do === 'unstage') return this.#bell.ring(nobody);
    const uid = operation.do === 'unpublish' ? operation.record.podUid : operation.volume.podUid;
    this.#bell.ring(uid);
    if (operation.do === 'unpublish') {
      if (operation.record.stagingPath !== undefined) this.#bell.ring(nobody);
      if (operation.record.claim !== undefined) for (const user of this.#usersOf(operation.record.claim)) this.#bell.ring(user);
    } else if (operation.do === 'publish' && this.look(operation.pod).ready) {
      const { log } = this.#options.world;
      log.debug('All volumes are attached and mounted for pod', { pod: keyOf(operation.pod.metadata), podUID: uid });
    }
    for (const listener of this.#listeners) listener(uid);
  }

  /** What an earlier agent left is looked at once; then whatever concerns a pod of the node. */
  #wakes(): readonly Source<string>[] {
    const { view } = this.#options;
    const left = new Set([...this.#directories, ...this.#actual.pods(), nobody]);
    const found: Source<string> = {
      subscribe: (_, add) => {
        for (const uid of left) add(uid);
        return () => undefined;
      },
    };
    const waiting = podWakes(view).map((each) => byUid(each, view));
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
    return this.#sights.usersOf(claim).map(({ metadata }) => metadata.uid ?? '');
  }

  /** Both: a pod of the same name may have come in the place of another. */
  #follow({ before, after }: Change<Pod>): readonly string[] {
    const uids = new Set([before, after].flatMap((pod) => (pod === undefined ? [] : (pod.metadata.uid ?? []))));
    const mine = [...uids].filter((uid) => this.#actual.hasPod(uid) || this.#directories.has(uid) || this.#sights.has(uid));
    if (before !== undefined && after !== undefined && !saysTheSame(before, after)) this.#makeStale(after);
    return mine;
  }

  #refresh(object: string): readonly string[] {
    const pods = this.#followers.get(object).filter(({ metadata }) => this.#actual.hasPod(metadata.uid ?? ''));
    for (const pod of pods) this.#makeStale(pod);
    return pods.map(({ metadata }) => metadata.uid ?? '');
  }

  #makeStale({ metadata: { uid = '' } }: Pod): void {
    for (const volume of this.#actual.ofPod(uid)) if (this.#follows(volume)) volume.stale = true;
  }

  #follows({ record }: ActualVolume): boolean {
    return this.#options.drivers.some(({ facts }) => facts.name === record.driver && facts.follows);
  }
}

const remembered = 10_000;

function actualOf(journal: Journal): Actual {
  const actual = new Actual();
  for (const record of journal.records) {
    if (record.type === 'published') actual.expect(record);
    else actual.expectStaged(record);
  }
  return actual;
}

const keyed = ({ before, after }: Change<KubeObject>): string => keyOf((after ?? before)?.metadata ?? {});

/** A volume that is mounted already may have become larger. */
const isToGrow = (before: PersistentVolumeClaim | undefined, after: PersistentVolumeClaim): boolean =>
  stageOf(after) === 'NodeResizePending' && (before === undefined || stageOf(before) !== 'NodeResizePending');

const saysTheSameSize = (before: PersistentVolume | undefined, after: PersistentVolume | undefined): boolean =>
  before === undefined || after === undefined || before.spec.capacity?.['storage'] === after.spec.capacity?.['storage'];

/** What a pod can be told about itself. */
const saysTheSame = (a: Pod, b: Pod): boolean => semanticallyEqual([a.metadata.labels, a.metadata.annotations], [b.metadata.labels, b.metadata.annotations]);

/** An index function: the objects that files of a pod are made of. */
function filesOfPod({ metadata: { namespace = '' }, spec }: Pod): readonly string[] {
  if (spec.nodeName === undefined) return [];
  return (spec.volumes ?? []).flatMap(filesOfVolume).map(({ kind, name }) => `${kind} ${namespace}/${name}`);
}

/** The same wake-ups, by the pod's uid instead of its name. */
function byUid(wakes: Source<string>, view: View): Source<string> {
  return {
    subscribe: (informers, add) =>
      wakes.subscribe(informers, (key) => {
        const uid = view.pods.getKey(key)?.metadata.uid;
        if (uid !== undefined) add(uid);
      }),
  };
}
