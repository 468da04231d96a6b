import type { Container, Node, Pod, Service } from '../../api/generated/types.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { refOf } from '../../client/client.ts';
import { type Outcome, outcomeOf } from '../../client/controller/loop.ts';
import { RecentMap } from '../../client/recent-map.ts';
import type { PodsControllerOptions } from './controller.ts';
import { type PodWorkerAction, type KillContainer, initialWorkerState, type PodWorkerState, type ResizeContainer, type StartContainer } from './actions.ts';
import { runHandler, type ContainerHandler } from './probes/handlers.ts';
import { containerSpecOf, limitsOf, hostnameOf, hostsFile } from './container-spec.ts';
import { containerReference } from '../pods/container-reference.ts';
import { resolvConfOf } from './resolv-conf.ts';
import { environmentOf } from './environment.ts';
import type { ConfigLookup } from '../volumes/config-references.ts';

export interface PodWorkerContext extends PodsControllerOptions {
  readonly isThere: (pod: Pod) => boolean;
  readonly files: ConfigLookup;
  /** That a pod of the namespace is told of. */
  readonly services: (namespace: string) => readonly Service[];
  readonly node: () => Node | undefined;
  readonly ipOf: (pod: Pod) => string;
  /** Something about the pod of this uid is otherwise than before. */
  readonly onChange: (uid: string) => void;
}

/** Nobody asks so often for what has just failed. */
const retryMs = 10_000;
/** What a kubelet gives a hook that has no bound of its own: as long as it takes; here, no longer than an hour. */
const longestHookMs = 3_600_000;
const remembered = 10_000;

/** Does what was decided about a pod, and remembers what came of it. */
export class PodWorker {
  readonly #options: PodWorkerContext;
  /** By uid. */
  readonly #memories = new RecentMap<string, PodWorkerState>(remembered);
  readonly #images = new Set<string>();

  constructor(options: PodWorkerContext) {
    this.#options = options;
  }

  state(uid: string): PodWorkerState {
    return this.#memories.get(uid) ?? initialWorkerState;
  }

  evict(uid: string, message: string): void {
    this.#note(uid, { evicted: message });
    this.#options.onChange(uid);
  }

  forget(uid: string): void {
    this.#memories.set(uid, initialWorkerState);
  }

  async perform(action: PodWorkerAction): Promise<Outcome> {
    if (action.do === 'discard') return this.#discard(action.uid);
    const { pod } = action;
    const { uid = '' } = pod.metadata;
    const { allocations: holdings, host, client } = this.#options;
    switch (action.do) {
      case 'admit':
        if (!this.#options.isThere(pod)) return 'conflict';
        holdings.admit(host.name, uid);
        return 'done';
      case 'give':
        if (!this.#options.isThere(pod)) return 'conflict';
        holdings.setResized(host.name, pod.metadata);
        return 'done';
      case 'write-status':
        return outcomeOf(await client.updateStatus(podKind, { ...pod, status: action.status }));
      case 'start-sandbox':
        return this.#startSandbox(pod, action.address);
      case 'start':
        return this.#start(pod, action);
      case 'kill':
        this.#kill(pod, action);
        return 'done';
      case 'resize':
        return this.#resize(action);
      case 'vacate':
        return this.#vacate(pod);
      case 'remove':
        return this.#remove(pod);
      case 'remember':
        this.#note(uid, action.news);
        return 'done';
      case 'tell': {
        const { about = pod, type, reason, message } = action;
        this.#options.recorder.record(about, { type, reason, message }, host.name);
        return 'done';
      }
    }
  }

  /** Another pod may have taken the address since it was decided. */
  async #startSandbox(pod: Pod, address: string | undefined): Promise<Outcome> {
    const { allocations: holdings, host, runtime, recorder, clusterDomain = 'cluster.local', nameServer } = this.#options;
    const { uid = '', namespace = '', name = '' } = pod.metadata;
    const mine = holdings.assignment(host.name, uid)?.address;
    if (!this.#options.isThere(pod) || (address !== undefined && address !== mine && [...holdings.addresses(host.name)].includes(address))) return 'conflict';
    holdings.assign(host.name, uid, { address, attached: [] });
    const started = await runtime.startPod({
      uid,
      namespace,
      name,
      hostname: hostnameOf(pod),
      address,
      hostIpc: pod.spec.hostIPC === true,
      resolvConf: resolvConfOf(pod, { clusterDomain, nameServer }),
      hosts: hostsFile(pod, address, clusterDomain),
    });
    if (started.ok) {
      this.#options.onSandboxStarted?.();
      return 'done';
    }
    const message = `Failed to create pod sandbox: ${started.error.message}`;
    recorder.record(pod, { type: 'Warning', reason: 'FailedCreatePodSandBox', message }, host.name);
    return { retry: message };
  }

  async #start(pod: Pod, { container, attempt, backOff }: StartContainer): Promise<Outcome> {
    const { runtime, volumes } = this.#options;
    const { uid = '' } = pod.metadata;
    const variables = this.#variables(pod, container);
    if (!variables.ok) return this.#hold(pod, container, variables.error);
    const mounted = await volumes.containerMounts(pod, container, variables.expand);
    if (!mounted.ok) return this.#hold(pod, container, mounted.error);
    const look = volumes.mountState(pod);
    const groups = look.ready ? look.supplementalGroups : [];
    this.#pull(pod, container);
    const started = await runtime.startContainer(containerSpecOf({ pod, container, attempt, ...variables, ...mounted, groups }));
    if (backOff !== undefined) this.#note(uid, { backOffs: new Map(this.state(uid).backOffs).set(container.name, backOff) });
    if (!started.ok && started.error.reason !== 'start') return { retry: started.error.message };
    this.#tell(pod, container, { type: 'Normal', reason: 'Created', message: 'Container created' });
    if (!started.ok) {
      this.#tell(pod, container, { type: 'Warning', reason: 'Failed', message: `Error: ${started.error.message}` });
      this.#wait(uid, container, { reason: 'RunContainerError', message: started.error.message });
      return 'done';
    }
    this.#wait(uid, container, undefined);
    this.#tell(pod, container, { type: 'Normal', reason: 'Started', message: 'Container started' });
    const { postStart } = container.lifecycle ?? {};
    if (postStart !== undefined) void this.#afterStart(pod, container, { id: started.value.id, handler: postStart });
    return 'done';
  }

  #variables(pod: Pod, container: Container) {
    const { host, files, services, node, ipOf } = this.#options;
    const allocatable = node()?.status.allocatable ?? host.capacity;
    return environmentOf({
      pod,
      container,
      files,
      services: services(pod.metadata.namespace ?? ''),
      node: { name: host.name, ip: host.ip, allocatable },
      podIps: [ipOf(pod)],
    });
  }

  /** It cannot be made as things stand; it is tried again before long. */
  #hold(pod: Pod, container: Container, error: string): Outcome {
    const { uid = '' } = pod.metadata;
    this.#tell(pod, container, { type: 'Warning', reason: 'Failed', message: `Error: ${error}` });
    this.#wait(uid, container, { reason: 'CreateContainerConfigError', message: error });
    this.#note(uid, { retryAt: new Map(this.state(uid).retryAt).set(container.name, this.#options.world.clock.now() + retryMs) });
    this.#options.onChange(uid);
    return 'conflict';
  }

  /** Images are names: what is pulled is the name. */
  #pull(pod: Pod, container: Container): void {
    const { image = '', imagePullPolicy } = container;
    const quoted = JSON.stringify(image);
    if ((this.#images.has(image) && imagePullPolicy !== 'Always') || imagePullPolicy === 'Never') {
      this.#tell(pod, container, {
        type: 'Normal',
        reason: 'Pulled',
        message: `Container image ${quoted} already present on machine and can be accessed by the pod`,
      });
      return;
    }
    if (this.#images.size < remembered) this.#images.add(image);
    this.#tell(pod, container, { type: 'Normal', reason: 'Pulling', message: `Pulling image ${quoted}` });
    this.#tell(pod, container, {
      type: 'Normal',
      reason: 'Pulled',
      message: `Successfully pulled image ${quoted} in 0s (0s including waiting). Image size: 0 bytes.`,
    });
  }

  async #afterStart(pod: Pod, container: Container, { id, handler }: { readonly id: string; readonly handler: ContainerHandler }): Promise<void> {
    const { uid = '' } = pod.metadata;
    const note = (standing: 'running' | 'failed' | undefined): void => {
      const hooks = new Map(this.state(uid).hooks);
      if (standing === undefined) hooks.delete(id);
      else hooks.set(id, standing);
      this.#note(uid, { hooks });
    };
    note('running');
    const { result } = await this.#hook(pod, container, { id, handler, ms: longestHookMs });
    if (result !== 'fine') this.#tell(pod, container, { type: 'Warning', reason: 'FailedPostStartHook', message: 'PostStartHook failed' });
    note(result === 'fine' ? undefined : 'failed');
    this.#options.onChange(uid);
  }

  #hook(pod: Pod, container: Container, { id, handler, ms }: { readonly id: string; readonly handler: ContainerHandler; readonly ms: number }) {
    const { runtime, world, ipOf } = this.#options;
    return runHandler(handler, { runtime, world, container, id, ip: ipOf(pod), timeoutMs: ms });
  }

  /** One that has just ended has nothing to be changed. */
  async #resize({ container, id }: ResizeContainer): Promise<Outcome> {
    const changed = await this.#options.runtime.limitContainer(id, limitsOf(container));
    return changed.ok || changed.error.reason === 'not-found' ? 'done' : { retry: changed.error.message };
  }

  /** Takes as long as it is given; meanwhile others are decided about. */
  #kill(pod: Pod, { container, id, deadline, message }: KillContainer): void {
    const { uid = '' } = pod.metadata;
    const isFirst = !this.state(uid).stopping.has(id);
    this.#note(uid, { stopping: new Map(this.state(uid).stopping).set(id, deadline) });
    if (isFirst) this.#tell(pod, container, { type: 'Normal', reason: 'Killing', message });
    void this.#stopRun(pod, container, { id, deadline, withHook: isFirst });
  }

  async #stopRun(
    pod: Pod,
    container: Container,
    { id, deadline, withHook }: { readonly id: string; readonly deadline: number; readonly withHook: boolean },
  ): Promise<void> {
    const { runtime, world } = this.#options;
    const left = (): number => Math.max(0, deadline - world.clock.now());
    const { preStop } = container.lifecycle ?? {};
    if (preStop !== undefined && withHook) {
      const { result } = await this.#hook(pod, container, { id, handler: preStop, ms: left() });
      if (result !== 'fine') this.#tell(pod, container, { type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed' });
    }
    await runtime.stopContainer(id, Math.max(left(), withHook && preStop !== undefined ? leastAfterHookMs : 0));
  }

  async #vacate(pod: Pod): Promise<Outcome> {
    const { runtime, allocations: holdings, volumes, host } = this.#options;
    const { uid = '' } = pod.metadata;
    await runtime.stopPod(uid);
    holdings.release(host.name, uid);
    this.#note(uid, { volumesReleased: true });
    volumes.podStopped(uid);
    this.#options.onChange(uid);
    return 'done';
  }

  /** Nobody reads the logs of what is gone. */
  async #discard(uid: string): Promise<Outcome> {
    await this.#options.runtime.removePod(uid);
    this.#options.volumes.podStopped(uid);
    return 'done';
  }

  async #remove(pod: Pod): Promise<Outcome> {
    const { uid } = pod.metadata;
    const removed = await this.#options.client.delete(podKind, refOf(pod), { gracePeriodSeconds: 0, ...(uid === undefined ? {} : { preconditions: { uid } }) });
    return !removed.ok && removed.reason === 'notFound' ? 'done' : outcomeOf(removed);
  }

  #wait(uid: string, { name }: Container, waiting: { readonly reason: string; readonly message: string } | undefined): void {
    const all = new Map(this.state(uid).waiting);
    if (waiting === undefined) all.delete(name);
    else all.set(name, waiting);
    this.#note(uid, { waiting: all });
  }

  #note(uid: string, news: Partial<PodWorkerState>): void {
    this.#memories.set(uid, { ...this.state(uid), ...news });
  }

  #tell(pod: Pod, { name }: Container, report: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }): void {
    this.#options.recorder.record(containerReference(pod, name), report, this.#options.host.name);
  }
}

/** However long a hook took, its container still gets this long to end by itself. */
const leastAfterHookMs = 2_000;
