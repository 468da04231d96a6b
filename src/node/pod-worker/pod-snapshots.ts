import type { Container, Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { type Change, keyOf } from '../../client/informers/cache.ts';
import { RecentMap } from '../../client/recent-map.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import type { Host } from '../host.ts';
import { freeAddress } from '../network/addresses.ts';
import { gatewayOf } from '../network/gateway.ts';
import { containerReference } from '../pods/container-reference.ts';
import type { ContainerHealth, PodState } from '../runtime.ts';
import type { Waiting } from '../pods/runtime-state.ts';
import { containerProblem } from '../security/security-context.ts';
import { missingVariable } from '../volumes/config-references.ts';
import type { PodsContext } from './context.ts';
import type { PodWorkerSnapshot } from './decide.ts';
import { EmptyDirEviction } from './empty-dir-eviction.ts';
import { imageIdOf } from './image-id.ts';
import { PodWorker } from './pod-worker.ts';
import { runHandler } from './probes/handlers.ts';
import { Prober } from './probes/prober.ts';

/** Takes the snapshots that pods are decided on, from caches, runtime, volume manager and probes. */
export class PodSnapshots {
  readonly worker: PodWorker;
  readonly #context: PodsContext;
  /** Absent with a runtime that scripts its containers. */
  readonly #prober: Prober | undefined;
  readonly #emptyDirs: EmptyDirEviction | undefined;
  /** By uid: pods of these nodes, and pods that the runtime has. */
  readonly #pods = new Map<string, { readonly key: string; readonly node: string }>();
  /** uids that the runtime has, by key. */
  readonly #inRuntime = new Map<string, Set<string>>();
  readonly #imageIds = new RecentMap<string, string>(1000);
  readonly #onChange: (uid: string) => void;
  #recovered = false;

  constructor(context: PodsContext, onChange: (uid: string) => void) {
    const { runtime, world, recorder, volumes } = context;
    this.#context = context;
    this.#onChange = onChange;
    const ipOf = (pod: Stored<Pod>): string => this.#ipOf(pod);
    this.worker = new PodWorker({ ...context, hostOf: (pod) => this.#hostOf(pod), ipOf, onChange });
    if (runtime.scripted !== undefined) return;
    this.#prober = new Prober({
      world,
      runtime: runtime.name,
      runHandler: (handler, { pod, ...of }) => runHandler(handler, { ...of, runtime, world, ip: ipOf(pod) }),
      onChange: ({ metadata }) => onChange(metadata.uid),
      recordUnhealthy: (pod, container, message) =>
        recorder.record(containerReference(pod, container), { type: 'Warning', reason: 'Unhealthy', message }, pod.spec.nodeName),
    });
    this.#emptyDirs = new EmptyDirEviction({
      world,
      usedBytes: (pod, volume) => volumes.usedBytes(pod, volume),
      onExceeded: ({ metadata }, message) => this.worker.evict(metadata.uid, message),
    });
  }

  stop(): void {
    this.#prober?.stop();
    this.#emptyDirs?.stop();
  }

  async recover(): Promise<void> {
    const { runtime, hosts } = this.#context;
    const [node = ''] = hosts.keys();
    for (const state of await runtime.recover()) {
      this.#pods.set(state.uid, { key: keyOf(state), node });
      this.runtimeChanged(state.uid);
    }
    this.#recovered = true;
    for (const uid of this.#pods.keys()) this.#onChange(uid);
  }

  keysInRuntime(): Iterable<string> {
    return this.#inRuntime.keys();
  }

  /** Adds or removes the pod in the runtime's index, and its address in the node's allocations. */
  runtimeChanged(uid: string): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    const { runtime, allocations } = this.#context;
    const state = runtime.pod(uid);
    const uids = this.#inRuntime.get(pod.key);
    if (state !== undefined) {
      if (uids === undefined) this.#inRuntime.set(pod.key, new Set([uid]));
      else uids.add(uid);
      const address = state.sandbox?.ips[0];
      if (address !== undefined) allocations.assign(pod.node, uid, address);
      return;
    }
    uids?.delete(uid);
    if (uids?.size === 0) this.#inRuntime.delete(pod.key);
    if (this.#podAt(pod.key)?.metadata.uid !== uid) this.#pods.delete(uid);
  }

  /** A pod that is gone keeps its address for as long as the runtime has its sandbox, and nothing else. */
  podChanged({ before, after }: Change<Pod>): void {
    const { caches, runtime, allocations } = this.#context;
    const host = after === undefined ? undefined : caches.hostOf(after);
    if (after !== undefined && host !== undefined) this.#pods.set(after.metadata.uid, { key: keyOf(after.metadata), node: host.name });
    if (before === undefined || before.metadata.uid === after?.metadata.uid || caches.hostOf(before) === undefined) return;
    const { uid } = before.metadata;
    this.#prober?.forget(uid);
    this.#emptyDirs?.forget(uid);
    this.worker.forget(uid);
    if (runtime.pod(uid) !== undefined) return;
    allocations.forget(before.spec.nodeName ?? '', uid);
    this.#pods.delete(uid);
  }

  keyOfUid(uid: string): string {
    return this.#pods.get(uid)?.key ?? '';
  }

  mayRun(uid: string): boolean {
    if (!this.#recovered) return true;
    const state = this.#context.runtime.pod(uid);
    if (state?.sandbox !== undefined || state?.runs.some((run) => run.state.type === 'running') === true) return true;
    const pod = this.#podAt(this.keyOfUid(uid));
    return pod !== undefined && pod.metadata.uid === uid && !hasEnded(pod) && !this.worker.state(uid).volumesReleased;
  }

  snapshot(key: string): PodWorkerSnapshot | undefined {
    if (!this.#recovered || key === '') return undefined;
    const { runtime, volumes, caches } = this.#context;
    const pod = this.#podAt(key);
    const uid = pod?.metadata.uid ?? '';
    const strays = this.#straysOf(key, uid);
    const host = pod === undefined ? this.#context.hosts.get(strays[0]?.node ?? '') : this.#hostOf(pod);
    if (host === undefined) return undefined;
    const state = runtime.pod(uid);
    const memory = this.worker.state(uid);
    if (pod !== undefined) this.#followHealth(pod, state);
    return {
      pod,
      host,
      node: caches.nodes.getKey(host.name),
      admitted: pod !== undefined && caches.isAdmitted(pod, host),
      others: () => caches.admittedPodsExcept(uid, host),
      mounts: () => (pod === undefined ? { ready: false, waiting: [] } : volumes.mountState(pod)),
      isUnmounted: volumes.isUnmounted(uid),
      freeAddress: () => this.#freeAddress(host, uid, pod?.status.podIP),
      problem: (container) => (pod === undefined ? undefined : this.#problem(container, pod)),
      state,
      strays,
      memory,
      health: (id) => this.#health(id),
      runtime: runtime.name,
      imageId: (image) => this.#imageId(image),
      invalidAnnotations: () => (pod === undefined ? [] : (runtime.scripted?.problems(pod) ?? [])),
    };
  }

  #straysOf(key: string, uid: string): readonly { readonly uid: string; readonly node: string }[] {
    const uids = this.#inRuntime.get(key);
    if (uids === undefined || (uids.size === 1 && uids.has(uid))) return [];
    return [...uids].flatMap((each) => (each === uid ? [] : [{ uid: each, node: this.#pods.get(each)?.node ?? '' }]));
  }

  #followHealth(pod: Stored<Pod>, state: PodState | undefined): void {
    const { uid } = pod.metadata;
    const { hooks, evicted } = this.worker.state(uid);
    if (state?.sandbox !== undefined && evicted === undefined) this.#emptyDirs?.follow(pod);
    else this.#emptyDirs?.forget(uid);
    this.#prober?.follow(
      pod,
      (state?.runs ?? []).filter(({ id }) => hooks.get(id) !== 'running'),
    );
  }

  #health(id: string): ContainerHealth {
    return this.#context.runtime.scripted?.health(id) ?? this.#prober?.health(id) ?? { started: true, ready: true, failed: undefined };
  }

  #imageId(image: string): string {
    const known = this.#imageIds.get(image);
    if (known !== undefined) return known;
    const id = imageIdOf(image, this.#context.sha256);
    this.#imageIds.set(image, id);
    return id;
  }

  /** Undefined: there is none, or it is on a node of another agent. */
  #podAt(key: string): Stored<Pod> | undefined {
    const pod = this.#context.caches.pods.getKey(key);
    return pod === undefined || this.#context.caches.hostOf(pod) === undefined ? undefined : pod;
  }

  #hostOf(pod: Stored<Pod>): Host {
    const host = this.#context.caches.hostOf(pod);
    if (host === undefined) throw new Error(`pod ${keyOf(pod.metadata)} is on no node of this agent`);
    return host;
  }

  #problem(container: Container, pod: Stored<Pod>): Waiting | undefined {
    const message = missingVariable(container, pod, this.#context.caches.config);
    if (message !== undefined) return { reason: 'CreateContainerConfigError', message };
    const { security } = this.#hostOf(pod);
    if (security === undefined) return undefined;
    // The image's own user is checked once the image is there.
    return containerProblem(pod, container, { ...security, hasOwnUser: this.#context.images !== undefined });
  }

  /** The one that the pod had, if it had one: DNS names lead to it. */
  #freeAddress(host: Host, uid: string, own: string | undefined): string | undefined {
    const { caches } = this.#context;
    const cidr = caches.nodes.getKey(host.name)?.spec.podCIDR ?? host.podCidr;
    const taken = caches.addressesExcept(uid, host.name);
    if (own !== undefined && !taken.has(own)) return own;
    return freeAddress(cidr, taken.add(gatewayOf(cidr)), uid);
  }

  #ipOf(pod: Stored<Pod>): string {
    return this.#context.runtime.pod(pod.metadata.uid)?.sandbox?.ips[0] ?? this.#hostOf(pod).ip;
  }
}
