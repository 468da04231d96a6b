import type { Container, ConfigMap, Node, Pod, Secret, Service } from '../../api/generated/types.ts';
import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { secretKind } from '../../api/kinds/core/secret.ts';
import { serviceKind } from '../../api/kinds/core/service.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import { type Cache, type Change, type Index, keyOf } from '../../client/informers/cache.ts';
import { type Client, refOf } from '../../client/client.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { Trigger, type Controller, source } from '../../client/controller/loop.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { World } from '../../world/world.ts';
import type { PodMounts, PodActivity } from '../contract.ts';
import type { NodeAllocations } from '../allocations.ts';
import { freeAddress } from '../network/addresses.ts';
import { dependency, dependenciesOf, nodeOfPod, freedCapacity } from '../cache/indexes.ts';
import type { Host } from '../host.ts';
import { gatewayOf } from '../network/gateway.ts';
import { withAllocatedResources } from '../pods/allocated-resources.ts';
import type { Runtime } from '../runtime.ts';
import { missingVariable } from '../volumes/config-references.ts';
import type { PodWorkerAction } from './actions.ts';
import { runHandler } from './probes/handlers.ts';
import { nonRootViolation } from './container-spec.ts';
import { containerReference } from '../pods/container-reference.ts';
import { decidePod, type PodWorkerSnapshot } from './decide.ts';
import { PodWorker } from './pod-worker.ts';
import { EmptyDirEviction } from './empty-dir-eviction.ts';
import { Prober } from './probes/prober.ts';

export interface PodsControllerOptions {
  readonly world: World;
  readonly host: Host;
  readonly informers: Informers;
  /** The node's own. */
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly allocations: NodeAllocations;
  readonly runtime: Runtime;
  readonly volumes: PodMounts;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  /** Names of services end so: 'cluster.local'. */
  readonly clusterDomain?: string;
  /** Who answers the pods' questions for names; undefined: whom the host asks. */
  readonly nameServer?: string;
  /** A pod has its place in the network. */
  readonly onSandboxStarted?: () => void;
}

export interface PodsController {
  readonly controller: Controller<string, PodWorkerSnapshot, PodWorkerAction>;
  readonly activity: PodActivity;
  /** Finds what runs already. Before the controller, and before any volume is unmounted. */
  recover(): Promise<void>;
  stop(): void;
}

/** The pods of one node on which containers really run. Keys are 'namespace/name'. */
export function podsController(options: PodsControllerOptions): PodsController {
  const { runtime, volumes, host } = options;
  const bell = new Trigger<string>();
  const view = new PodSnapshots(options, (uid) => bell.fire(view.keyOfUid(uid)));
  runtime.observe((uid) => {
    view.learn(uid);
    bell.fire(view.keyOfUid(uid));
  });
  volumes.subscribe((uid) => bell.fire(view.keyOfUid(uid)));
  view.pods.subscribe((change) => view.follow(change));
  const waitingFor = (what: string) => view.waiting.get(what).flatMap((pod) => (pod.spec.nodeName === host.name ? keyOf(pod.metadata) : []));
  return {
    controller: {
      name: 'pods',
      parallelism: 128,
      sources: [
        bell,
        // Nobody may ask for what runs already: then no change of a pod leads to it.
        {
          subscribe: (_, add) => {
            for (const key of view.found()) add(key);
            return () => undefined;
          },
        },
        source(podKind, ({ before, after }) => {
          const pod = after ?? before;
          return pod?.spec.nodeName === host.name ? [keyOf(pod.metadata), ...freedCapacity({ before, after }).flatMap(waitingFor)] : [];
        }),
        source(configMapKind, ({ before, after }) => waitingFor(dependency.configMap(keyOf((after ?? before)?.metadata ?? {})))),
        source(secretKind, ({ before, after }) => waitingFor(dependency.secret(keyOf((after ?? before)?.metadata ?? {})))),
      ],
      snapshot: (key) => view.snapshot(key),
      decide: decidePod,
      perform: (action) => view.worker.perform(action),
    },
    activity: { mayRun: (uid) => view.mayRun(uid) },
    recover: () => view.recover(),
    stop: () => {
      view.prober.stop();
      view.emptyDirs.stop();
    },
  };
}

/** Everything about one pod, found without looking at anything else. */
class PodSnapshots {
  readonly pods: Cache<Pod>;
  /** Pods that wait for something, by what it is. */
  readonly waiting: Index<Pod>;
  readonly prober: Prober;
  readonly emptyDirs: EmptyDirEviction;
  readonly worker: PodWorker;
  readonly #options: PodsControllerOptions;
  readonly #nodes: Cache<Node>;
  readonly #configMaps: Cache<ConfigMap>;
  readonly #secrets: Cache<Secret>;
  readonly #services: Cache<Service>;
  readonly #podsByNode: Index<Pod>;
  readonly #servicesByNamespace: Index<Service>;
  /** By uid: of pods here, and of those that the runtime knows. */
  readonly #keys = new Map<string, string>();
  /** Uids that the runtime knows, by key. */
  readonly #known = new Map<string, Set<string>>();
  readonly #onChange: (uid: string) => void;
  #recovered = false;

  constructor(options: PodsControllerOptions, onChange: (uid: string) => void) {
    const { informers, runtime, world, recorder, host } = options;
    this.#options = options;
    this.#onChange = onChange;
    this.pods = informers.cache(podKind);
    this.#nodes = informers.cache(nodeKind);
    this.#configMaps = informers.cache(configMapKind);
    this.#secrets = informers.cache(secretKind);
    this.#services = informers.cache(serviceKind);
    this.#podsByNode = this.pods.addIndex(nodeOfPod);
    this.waiting = this.pods.addIndex(dependenciesOf);
    this.#servicesByNamespace = this.#services.addIndex(({ metadata }) => [metadata.namespace ?? '']);
    this.prober = new Prober({
      world,
      runtime: runtime.name,
      runHandler: (handler, { pod, ...of }) => runHandler(handler, { ...of, runtime, world, ip: this.#ipOf(pod) }),
      onChange: ({ metadata }) => onChange(metadata.uid ?? ''),
      recordUnhealthy: (pod, container, message) =>
        recorder.record(containerReference(pod, container), { type: 'Warning', reason: 'Unhealthy', message }, host.name),
    });
    this.emptyDirs = new EmptyDirEviction({
      world,
      usedBytes: (pod, volume) => options.volumes.usedBytes(pod, volume),
      onExceeded: ({ metadata }, message) => this.worker.evict(metadata.uid ?? '', message),
    });
    this.worker = new PodWorker({
      ...options,
      isThere: (pod) => this.pods.get(refOf(pod))?.metadata.uid === pod.metadata.uid,
      files: this.#files,
      services: (namespace) => this.#servicesFor(namespace),
      node: () => this.#nodes.getKey(host.name),
      ipOf: (pod) => this.#ipOf(pod),
      onChange,
    });
  }

  readonly #files = {
    configMap: (key: string) => this.#configMaps.getKey(key),
    secret: (key: string) => this.#secrets.getKey(key),
  };

  async recover(): Promise<void> {
    for (const { uid } of await this.#options.runtime.recover()) this.learn(uid);
    this.#recovered = true;
    const here = this.#podsByNode.get(this.#options.host.name).map(({ metadata }) => metadata.uid ?? '');
    if (this.#known.size > 0) this.#options.onSandboxStarted?.();
    for (const uid of [...here, ...[...this.#known.values()].flatMap((uids) => [...uids])]) this.#onChange(uid);
  }

  /** Keys of all that the runtime knows. */
  found(): Iterable<string> {
    return this.#known.keys();
  }

  /** The runtime knows the pod, or has forgotten it. */
  learn(uid: string): void {
    const state = this.#options.runtime.pod(uid);
    if (state !== undefined) {
      const key = keyOf(state);
      this.#keys.set(uid, key);
      const uids = this.#known.get(key) ?? new Set<string>();
      this.#known.set(key, uids.add(uid));
      return;
    }
    const uids = this.#known.get(this.#keys.get(uid) ?? '');
    uids?.delete(uid);
    if (uids?.size === 0) this.#known.delete(this.#keys.get(uid) ?? '');
  }

  /** A pod that is gone holds nothing, however it went. */
  follow({ before, after }: Change<Pod>): void {
    const { host, allocations: holdings } = this.#options;
    if (after !== undefined && after.spec.nodeName === host.name) this.#keys.set(after.metadata.uid ?? '', keyOf(after.metadata));
    if (before === undefined || before.metadata.uid === after?.metadata.uid || before.spec.nodeName !== host.name) return;
    const { uid = '' } = before.metadata;
    holdings.forget(host.name, uid);
    this.prober.forget(uid);
    this.emptyDirs.forget(uid);
    this.worker.forget(uid);
    if (this.#options.runtime.pod(uid) === undefined) this.#keys.delete(uid);
  }

  keyOfUid(uid: string): string {
    return this.#keys.get(uid) ?? '';
  }

  mayRun(uid: string): boolean {
    if (!this.#recovered) return true;
    const state = this.#options.runtime.pod(uid);
    if (state?.sandbox !== undefined || state?.runs.some((run) => run.state.type === 'running') === true) return true;
    const pod = this.#podOf(this.keyOfUid(uid));
    return pod !== undefined && pod.metadata.uid === uid && !hasEnded(pod) && !this.worker.state(uid).volumesReleased;
  }

  snapshot(key: string): PodWorkerSnapshot | undefined {
    const { runtime, volumes, host, allocations: holdings, sha256 } = this.#options;
    if (!this.#recovered || key === '') return undefined;
    const pod = this.#podOf(key);
    const uid = pod?.metadata.uid ?? '';
    const known = [...(this.#known.get(key) ?? [])].flatMap((each) => runtime.pod(each) ?? []);
    const strays = known.filter((state) => state.uid !== uid);
    if (pod === undefined && strays.length === 0) return undefined;
    const state = runtime.pod(uid);
    const memory = this.worker.state(uid);
    if (state?.sandbox !== undefined && memory.evicted === undefined && pod !== undefined) this.emptyDirs.follow(pod);
    else this.emptyDirs.forget(uid);
    if (pod !== undefined)
      this.prober.follow(
        pod,
        (state?.runs ?? []).filter(({ id }) => memory.hooks.get(id) !== 'running'),
      );
    return {
      pod,
      host,
      node: this.#nodes.getKey(host.name),
      admitted: pod?.status.startTime !== undefined || holdings.isAdmitted(host.name, uid),
      others: () =>
        this.#podsByNode
          .get(host.name)
          .filter((other) => other.metadata.uid !== uid && this.#isAdmitted(other) && !hasEnded(other))
          .map((other) => (holdings.isResized(host.name, other.metadata) ? other : withAllocatedResources(other))),
      volumes: () => (pod === undefined ? { ready: false, waiting: [] } : volumes.mountState(pod)),
      isUnmounted: volumes.isUnmounted(uid),
      freeAddress: () => this.#freeAddress(uid, pod),
      problem: (container) => (pod === undefined ? undefined : this.#problem(container, pod)),
      state,
      strays,
      memory,
      health: (id) => this.prober.health(id),
      runtime: runtime.name,
      imageId: (image) => `${image.replace(/@.*$/, '')}@sha256:${sha256(image)}`,
    };
  }

  #podOf(key: string): Pod | undefined {
    const pod = this.pods.getKey(key);
    return pod?.spec.nodeName === this.#options.host.name ? pod : undefined;
  }

  #isAdmitted({ metadata: { uid = '' }, status }: Pod): boolean {
    return status.startTime !== undefined || this.#options.allocations.isAdmitted(this.#options.host.name, uid);
  }

  #problem(container: Container, pod: Pod): string | undefined {
    return missingVariable(container, pod, this.#files) ?? nonRootViolation(pod, container);
  }

  /** The one that it had, if it had one: its name stands for it. */
  #freeAddress(uid: string, pod: Pod | undefined): string | undefined {
    const { host, allocations: holdings, runtime } = this.#options;
    const cidr = this.#nodes.getKey(host.name)?.spec.podCIDR ?? host.podCidr;
    const taken = new Set(holdings.addresses(host.name));
    for (const other of this.#podsByNode.get(host.name)) if (other.metadata.uid !== uid && !hasEnded(other)) taken.add(other.status.podIP ?? '');
    for (const uids of this.#known.values()) for (const each of uids) if (each !== uid) for (const ip of runtime.pod(each)?.sandbox?.ips ?? []) taken.add(ip);
    const own = pod?.status.podIP;
    if (own !== undefined && !taken.has(own)) return own;
    return freeAddress(cidr, taken.add(gatewayOf(cidr)), uid);
  }

  #ipOf(pod: Pod): string {
    const { host, runtime } = this.#options;
    return runtime.pod(pod.metadata.uid ?? '')?.sandbox?.ips[0] ?? host.ip;
  }

  #servicesFor(namespace: string): readonly Service[] {
    const own = this.#servicesByNamespace.get(namespace);
    const kubernetes = this.#services.getKey('default/kubernetes');
    return kubernetes === undefined || namespace === 'default' ? own : [...own, kubernetes];
  }
}
