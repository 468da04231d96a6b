import type { Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { type Controller, type Outcome, Trigger } from '../../../client/controller/loop.ts';
import type { Decision } from '../../../client/decision.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import { type Change, keyOf } from '../../../client/informers/cache.ts';
import { claimsOfPod, hasEnded } from '../../../storage/volumes/pods.ts';
import type { Cancel } from '../../../world/world.ts';
import { dependency } from '../../cache/indexes.ts';
import type { NodeCaches } from '../../cache/node-caches.ts';
import { podSources } from '../../cache/sources.ts';
import type { ContainerMounts, PodMounts, PodMountState } from '../../contract.ts';
import { hasSandbox, isTerminal } from '../../pods/status/pod-status.ts';
import { type MountWaitState, notWaiting, waitForVolumes } from '../../volumes/mount-events.ts';
import { usedVolumes } from '../../volumes/used-volumes.ts';
import { type VolumeState, volumeStateOf } from '../../volumes/volume-state.ts';
import type { VolumesInUse } from '../../volumes-in-use.ts';

export interface HollowVolumeManagerOptions {
  readonly caches: NodeCaches;
  readonly inUse: VolumesInUse;
  readonly recorder: EventRecorder;
  /** Attachable volumes were unmounted on the node. */
  readonly onUnmounted: (node: string) => void;
}

/** A pod whose volumes are not mounted yet. */
export interface HollowVolumesSnapshot {
  readonly pod: Stored<Pod>;
  readonly states: readonly VolumeState[];
  readonly wait: MountWaitState;
}

export type HollowVolumeAction = { readonly pod: Stored<Pod> } & (
  | { readonly do: 'mount'; readonly attached: readonly string[] }
  | { readonly do: 'record-event'; readonly reason: string; readonly message: string }
  | { readonly do: 'remember'; readonly wait: MountWaitState }
);

const mounted: PodMountState = { ready: true, mounts: new Map(), supplementalGroups: [] };

/**
 * The volume manager of nodes on which nothing runs: it waits for the volumes of pods and records the kubelet's events, but mounts nothing.
 * Keys are 'namespace/name'. Its only memory is the pod's status: a pod that has its sandbox has its volumes.
 */
export class HollowVolumeManager implements PodMounts {
  readonly #options: HollowVolumeManagerOptions;
  /** By uid: pods whose volumes are mounted. */
  readonly #mounted = new Map<string, Stored<Pod>>();
  /** By node and uid: attachable volumes that are mounted, as node statuses name them. */
  readonly #attached = new Map<string, Map<string, readonly string[]>>();
  /** By uid. */
  readonly #waits = new Map<string, MountWaitState>();
  readonly #trigger = new Trigger<string>();
  readonly #listeners = new Set<(uid: string) => void>();
  readonly controller: Controller<string, HollowVolumesSnapshot, HollowVolumeAction>;

  constructor(options: HollowVolumeManagerOptions) {
    this.#options = options;
    const { caches } = options;
    // Before the loop: a volume is free when other pods are enqueued because a pod is gone.
    caches.pods.subscribe((change) => this.#podChanged(change));
    this.controller = {
      name: 'hollow-volumes',
      parallelism: 128,
      sources: [...podSources(caches), this.#trigger],
      snapshot: (key) => this.#snapshot(key),
      decide: decideVolumes,
      perform: (action) => Promise.resolve(this.#perform(action)),
    };
  }

  mountState(pod: Stored<Pod>): PodMountState {
    if (this.#isMounted(pod)) return mounted;
    const used = usedVolumes(pod);
    if (used.length === 0) return mounted;
    return { ready: false, waiting: used.map(({ volume }) => volume.name), rejected: this.#waits.get(pod.metadata.uid)?.rejected };
  }

  containerMounts(): Promise<ContainerMounts> {
    return Promise.resolve({ ok: true, mounts: [], devices: [] });
  }

  /** With ReadWriteOncePod, other pods may wait for the pod's claims. */
  podStopped(uid: string): void {
    const { caches, onUnmounted } = this.#options;
    const pod = this.#mounted.get(uid);
    if (pod === undefined) return;
    const { nodeName = '' } = pod.spec;
    this.#mounted.delete(uid);
    if (this.#attached.get(nodeName)?.delete(uid) === true) onUnmounted(nodeName);
    for (const claim of claimsOfPod(pod)) {
      for (const other of caches.waitingPods.get(dependency.claim(claim))) this.#trigger.fire(keyOf(other.metadata));
    }
  }

  isUnmounted(uid: string): boolean {
    return !this.#mounted.has(uid);
  }

  usedBytes(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  subscribe(listener: (uid: string) => void): Cancel {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Attachable volumes that are mounted on the node, as node statuses name them. */
  *attachedVolumes(node: string): Generator<string> {
    for (const volumes of this.#attached.get(node)?.values() ?? []) yield* volumes;
  }

  /** The node's status was sent: volumes that it lists may be mounted. */
  onStatusReported(node: string): void {
    for (const pod of this.#options.caches.waitingPods.get(dependency.node(node))) this.#trigger.fire(keyOf(pod.metadata));
  }

  #isMounted({ metadata: { uid }, status }: Stored<Pod>): boolean {
    return this.#mounted.has(uid) || hasSandbox(status);
  }

  #podChanged({ before, after }: Change<Pod>): void {
    if (before === undefined || before.metadata.uid === after?.metadata.uid) return;
    this.podStopped(before.metadata.uid);
    this.#waits.delete(before.metadata.uid);
  }

  #snapshot(key: string): HollowVolumesSnapshot | undefined {
    const { caches } = this.#options;
    const pod = caches.pods.getKey(key);
    const host = pod === undefined ? undefined : caches.hostOf(pod);
    if (pod === undefined || host === undefined || this.#isMounted(pod)) return undefined;
    const { metadata, status } = pod;
    if (status.startTime === undefined || isTerminal(status.phase) || metadata.deletionTimestamp !== undefined) return undefined;
    const isMountedByOtherPod = (claim: string): boolean =>
      caches.podsUsing(claim, host.name).some((other) => other.metadata.uid !== metadata.uid && this.#uses(other));
    const snapshot = { ...caches.volumeSnapshot(host), isMountedByOtherPod };
    const states = usedVolumes(pod).map((use) => volumeStateOf(pod, use, snapshot));
    return states.length === 0 ? undefined : { pod, states, wait: this.#waits.get(metadata.uid) ?? notWaiting };
  }

  #uses(pod: Stored<Pod>): boolean {
    return this.#mounted.has(pod.metadata.uid) || (hasSandbox(pod.status) && !hasEnded(pod));
  }

  #perform(action: HollowVolumeAction): Outcome {
    const { pod } = action;
    switch (action.do) {
      case 'mount':
        return this.#mount(pod, action.attached);
      case 'record-event':
        this.#options.recorder.record(pod, { type: 'Warning', reason: action.reason, message: action.message }, pod.spec.nodeName);
        return 'done';
      case 'remember':
        this.#waits.set(pod.metadata.uid, action.wait);
        if (action.wait.rejected !== undefined) this.#tell(pod.metadata.uid);
        return 'done';
    }
  }

  /** Since the decision, the pod may be gone, or the node about to list the volume no more. */
  #mount(pod: Stored<Pod>, attached: readonly string[]): Outcome {
    const { caches, inUse } = this.#options;
    const { uid } = pod.metadata;
    const { nodeName = '' } = pod.spec;
    if (caches.pods.getKey(keyOf(pod.metadata))?.metadata.uid !== uid || attached.some((volume) => !inUse.mayMount(nodeName, volume))) return 'conflict';
    this.#mounted.set(uid, pod);
    this.#waits.delete(uid);
    if (attached.length > 0) {
      const ofNode = this.#attached.get(nodeName) ?? new Map<string, readonly string[]>();
      this.#attached.set(nodeName, ofNode.set(uid, attached));
    }
    this.#tell(uid);
    return 'done';
  }

  #tell(uid: string): void {
    for (const listener of this.#listeners) listener(uid);
  }
}

/** All volumes are mounted at once, when the last of them is ready. */
function decideVolumes({ pod, states, wait }: HollowVolumesSnapshot, now: number): Decision<HollowVolumeAction> {
  const waiting = states.filter(({ state }) => state !== 'ready');
  if (waiting.length === 0) {
    const attached = states.flatMap((volume) => (volume.state === 'ready' && volume.attached !== undefined ? [volume.attached] : []));
    return { actions: [{ do: 'mount', pod, attached }], reasons: [{ code: 'Mounted', text: 'all volumes are ready' }] };
  }
  const { events, memory, again } = waitForVolumes(states, wait, now);
  const isNews = events.length > 0 || memory.timesOutAt !== wait.timesOutAt;
  return {
    // Recorded before it is remembered: a crash between the two records an event twice rather than never.
    actions: isNews ? [...events.map((event) => ({ do: 'record-event', pod, ...event }) as const), { do: 'remember', pod, wait: memory }] : [],
    reasons: waiting.map((volume) => ({ code: `Volume-${volume.state}`, text: `volume ${volume.name} is ${volume.state}` })),
    ...(again === undefined ? {} : { again }),
  };
}
