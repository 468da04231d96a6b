import type { Container, Pod, Secret } from '../../api/generated/types.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { Stored } from '../../api/stored.ts';
import { refOf } from '../../client/client.ts';
import { type Outcome, outcomeOf } from '../../client/controller/loop.ts';
import type { Host } from '../host.ts';
import type { ImageEvent, ImageVolume } from '../images/image-manager.ts';
import { containerReference } from '../pods/container-reference.ts';
import { initialWorkerState, type KillContainer, type PodWorkerAction, type PodWorkerState, type ResizeContainer, type StartContainer } from './actions.ts';
import { containerSpecOf, limitsOf, sandboxSpecOf } from './container-spec.ts';
import { podLimitsOf } from './pod-limits.ts';
import { runtimeHandlerProblem } from '../security/runtime-handler.ts';
import { sandboxProblem, unenforcedLabel } from '../security/security-context.ts';
import { seccompFilter } from '../security/seccomp-filter.ts';
import type { PodsContext } from './context.ts';
import { environmentOf } from './environment.ts';
import { ensureImageVolumes, idsOf, withImageVolumes } from './image-volumes.ts';
import { type ContainerHandler, runHandler } from './probes/handlers.ts';

export interface PodWorkerContext extends PodsContext {
  /** The pod's node. */
  readonly hostOf: (pod: Stored<Pod>) => Host;
  readonly ipOf: (pod: Stored<Pod>) => string;
  /** Something about the pod of this uid has changed. */
  readonly onChange: (uid: string) => void;
}

/** How long a container that could not be created is left alone. */
const retryMs = 10_000;
/** The end of a pull is told; this is for one that is not. */
const longestPullMs = 3_600_000;
/** A kubelet bounds a postStart hook not at all. */
const longestHookMs = 3_600_000;

/** Performs what was decided about a pod, and remembers the outcome. */
export class PodWorker {
  readonly #context: PodWorkerContext;
  /** By uid. */
  readonly #states = new Map<string, PodWorkerState>();

  constructor(context: PodWorkerContext) {
    this.#context = context;
  }

  state(uid: string): PodWorkerState {
    return this.#states.get(uid) ?? initialWorkerState;
  }

  evict(uid: string, message: string): void {
    this.#remember(uid, { evicted: message });
    this.#context.onChange(uid);
  }

  forget(uid: string): void {
    this.#states.delete(uid);
  }

  async perform(action: PodWorkerAction): Promise<Outcome> {
    if (action.do === 'discard') return this.#discard(action.uid, action.node);
    const { pod } = action;
    const { uid } = pod.metadata;
    const { allocations, clientOf, recorder } = this.#context;
    const node = pod.spec.nodeName ?? '';
    switch (action.do) {
      case 'admit':
        if (!this.#exists(pod)) return 'conflict';
        allocations.admit(node, uid);
        return 'done';
      case 'allocate':
        if (!this.#exists(pod)) return 'conflict';
        allocations.setResized(node, pod.metadata);
        return 'done';
      case 'write-status':
        return outcomeOf(await clientOf(node).updateStatus(podKind, { ...pod, status: action.status }));
      case 'start-sandbox':
        return this.#startSandbox(pod, action.address);
      case 'start':
        return this.#start(pod, action);
      case 'kill':
        this.#kill(pod, action);
        return 'done';
      case 'resize':
        return this.#resize(pod, action);
      case 'stop-sandbox':
        return this.#stopSandbox(pod);
      case 'delete-pod':
        return this.#deletePod(pod);
      case 'remember':
        this.#remember(uid, action.changes);
        return 'done';
      case 'record-event': {
        const { about = pod, type, reason, message } = action;
        recorder.record(about, { type, reason, message }, node);
        return 'done';
      }
    }
  }

  /** A pod that is gone must be given nothing: nothing would take it back. */
  #exists(pod: Stored<Pod>): boolean {
    return this.#context.caches.pods.get(refOf(pod))?.metadata.uid === pod.metadata.uid;
  }

  /** Since the decision, another pod may have got the address. */
  async #startSandbox(pod: Stored<Pod>, address: string | undefined): Promise<Outcome> {
    const { allocations, runtime, clusterDomain = 'cluster.local', nameServer, fromHostLoopback = false } = this.#context;
    const { uid } = pod.metadata;
    const node = pod.spec.nodeName ?? '';
    const isTaken = address !== undefined && [...allocations.addresses(node)].some(([other, its]) => other !== uid && its === address);
    if (isTaken || !this.#exists(pod)) return 'conflict';
    const { security } = this.#context.hostOf(pod);
    const problem = security !== undefined ? (sandboxProblem(pod) ?? (await runtimeHandlerProblem(pod, this.#context.clientOf(node)))) : undefined;
    if (problem !== undefined) return this.#noSandbox(pod, problem);
    if (address !== undefined) allocations.assign(node, uid, address);
    const unprotected = address === undefined ? undefined : await this.#context.awaitNetworkPolicies?.(pod, address);
    if (unprotected !== undefined) return this.#noSandbox(pod, unprotected);
    const started = await runtime.startPod(sandboxSpecOf(pod, { address, clusterDomain, nameServer, fromHostLoopback }));
    if (!started.ok) return this.#noSandbox(pod, started.error.message);
    const message = security === undefined ? undefined : unenforcedLabel(pod, security);
    if (message !== undefined) this.#context.recorder.record(pod, { type: 'Warning', reason: 'SELinuxNotEnabled', message }, node);
    return 'done';
  }

  #noSandbox(pod: Stored<Pod>, why: string): Outcome {
    const message = `Failed to create pod sandbox: ${why}`;
    this.#context.recorder.record(pod, { type: 'Warning', reason: 'FailedCreatePodSandBox', message }, pod.spec.nodeName ?? '');
    return { retry: message };
  }

  async #start(pod: Stored<Pod>, { container, attempt, backOff }: StartContainer): Promise<Outcome> {
    const { runtime, volumes } = this.#context;
    const { uid } = pod.metadata;
    const imageVolumes = await this.#ensureImageVolumes(pod, container);
    if (imageVolumes.ok === 'pending') return this.#waitForPull(uid, container, imageVolumes.done);
    if (!imageVolumes.ok) return this.#retryLater(pod, container, imageVolumes.message, imageVolumes.reason);
    const ensured = await this.#ensureImage(pod, container);
    if (ensured.ok === 'pending') return this.#waitForPull(uid, container, ensured.done);
    if (!ensured.ok) return this.#waitWith(pod, container, ensured);
    const { image } = ensured;
    const environment = this.#environment(pod, container);
    if (!environment.ok) return this.#retryLater(pod, container, environment.error);
    const mounted = await volumes.containerMounts(pod, container, environment.expand);
    if (!mounted.ok) return this.#retryLater(pod, container, mounted.error);
    const seccomp = await this.#seccompFilter(pod, container);
    if (!seccomp.ok) return this.#retryLater(pod, container, seccomp.error, 'CreateContainerError');
    const state = volumes.mountState(pod);
    const groups = state.ready ? state.supplementalGroups : [];
    const mounts = withImageVolumes(mounted.mounts, imageVolumes.volumes);
    const plain = containerSpecOf({ pod, container, attempt, ...environment, ...mounted, mounts, groups, seccompFilter: seccomp.filter });
    const resolved = { ...plain, ...idsOf(imageVolumes.volumes) };
    const spec = image?.complete(resolved, pod, container) ?? resolved;
    if ('error' in spec) return this.#retryLater(pod, container, spec.error, spec.reason);
    const started = await runtime.startContainer(spec);
    if (backOff !== undefined) this.#remember(uid, { backOffs: new Map(this.state(uid).backOffs).set(container.name, backOff) });
    if (!started.ok && started.error.reason !== 'start') return { retry: started.error.message };
    this.#record(pod, container, { type: 'Normal', reason: 'Created', message: 'Container created' });
    if (!started.ok) {
      this.#record(pod, container, { type: 'Warning', reason: 'Failed', message: `Error: ${started.error.message}` });
      this.#setWaiting(uid, container, { reason: 'RunContainerError', message: started.error.message });
      return 'done';
    }
    this.#setWaiting(uid, container, undefined);
    this.#record(pod, container, { type: 'Normal', reason: 'Started', message: 'Container started' });
    const { postStart } = container.lifecycle ?? {};
    if (postStart !== undefined) void this.#postStart(pod, container, { id: started.value.id, handler: postStart });
    return 'done';
  }

  async #seccompFilter(pod: Stored<Pod>, container: Container): ReturnType<typeof seccompFilter> {
    const { hostOf, readSeccompProfile } = this.#context;
    const { system, security } = hostOf(pod);
    if (security === undefined || readSeccompProfile === undefined) return { ok: true, filter: undefined };
    const { architecture: machine, kernelVersion } = system;
    return seccompFilter(pod, container, { machine, kernelVersion, seccompDefault: security.seccompDefault, readProfileFile: readSeccompProfile });
  }

  #environment(pod: Stored<Pod>, container: Container) {
    const { caches, services, ipOf, hostOf } = this.#context;
    const { name, ip, capacity } = hostOf(pod);
    const allocatable = caches.nodes.getKey(name)?.status.allocatable ?? capacity;
    return environmentOf({
      pod,
      container,
      config: caches.config,
      services: services(pod.metadata.namespace ?? ''),
      node: { name, ip, allocatable },
      podIps: [ipOf(pod)],
    });
  }

  /** The container cannot be created as things are; the next attempt comes after `retryMs`. */
  #retryLater(pod: Stored<Pod>, container: Container, error: string, reason = 'CreateContainerConfigError'): Outcome {
    this.#record(pod, container, { type: 'Warning', reason: 'Failed', message: `Error: ${error}` });
    return this.#waitWith(pod, container, { reason, message: error });
  }

  async #ensureImage(pod: Stored<Pod>, container: Container) {
    const { images } = this.#context;
    if (images === undefined) {
      this.#pull(pod, container);
      return { ok: true, image: undefined } as const;
    }
    const ensured = await images.ensure(pod, container, this.#pullSecrets(pod));
    for (const event of ensured.events) this.#record(pod, container, event);
    return ensured;
  }

  async #ensureImageVolumes(pod: Stored<Pod>, container: Container) {
    const { images, recorder } = this.#context;
    const hasOne = pod.spec.volumes?.some(({ image }) => image !== undefined) === true;
    if (images === undefined || !hasOne) return { ok: true, volumes: new Map<string, ImageVolume>() } as const;
    const record = (event: ImageEvent): void => recorder.record(pod, event, pod.spec.nodeName ?? '');
    return ensureImageVolumes({ pod, container, images, secrets: this.#pullSecrets(pod), record });
  }

  #pullSecrets(pod: Stored<Pod>): readonly Secret[] {
    const { namespace = '' } = pod.metadata;
    const named = (pod.spec.imagePullSecrets ?? []).map(({ name = '' }) => ({ name, secret: this.#context.caches.config.secret(`${namespace}/${name}`) }));
    const missing = named.flatMap(({ name, secret }) => (secret === undefined ? [name] : []));
    const reason = 'FailedToRetrieveImagePullSecret';
    const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
    if (missing.length > 0) this.#context.recorder.record(pod, { type: 'Warning', reason, message }, pod.spec.nodeName ?? '');
    return named.flatMap(({ secret }) => secret ?? []);
  }

  /** Meanwhile the worker decides about everything else of the pod. */
  #waitForPull(uid: string, { name }: Container, done: Promise<unknown>): Outcome {
    const setRetry = (at: number): void => this.#remember(uid, { retryAt: new Map(this.state(uid).retryAt).set(name, at) });
    setRetry(this.#context.world.clock.now() + longestPullMs);
    void done.finally(() => {
      if (!this.#states.has(uid)) return;
      setRetry(0);
      this.#context.onChange(uid);
    });
    return 'done';
  }

  #waitWith(pod: Stored<Pod>, container: Container, { reason, message }: { readonly reason: string; readonly message: string }): Outcome {
    const { uid } = pod.metadata;
    this.#setWaiting(uid, container, { reason, message });
    this.#remember(uid, { retryAt: new Map(this.state(uid).retryAt).set(container.name, this.#context.world.clock.now() + retryMs) });
    this.#context.onChange(uid);
    return 'conflict';
  }

  /** Images are only names: pulling one remembers its name. */
  #pull(pod: Stored<Pod>, container: Container): void {
    const { allocations } = this.#context;
    const { nodeName = '' } = pod.spec;
    const { image = '', imagePullPolicy } = container;
    const quoted = JSON.stringify(image);
    if ((allocations.hasImage(nodeName, image) && imagePullPolicy !== 'Always') || imagePullPolicy === 'Never') {
      const message = `Container image ${quoted} already present on machine and can be accessed by the pod`;
      return this.#record(pod, container, { type: 'Normal', reason: 'Pulled', message });
    }
    allocations.addImage(nodeName, image);
    const pulled = `Successfully pulled image ${quoted} in 0s (0s including waiting). Image size: 0 bytes.`;
    this.#record(pod, container, { type: 'Normal', reason: 'Pulling', message: `Pulling image ${quoted}` });
    this.#record(pod, container, { type: 'Normal', reason: 'Pulled', message: pulled });
  }

  async #postStart(pod: Stored<Pod>, container: Container, { id, handler }: { readonly id: string; readonly handler: ContainerHandler }): Promise<void> {
    const { uid } = pod.metadata;
    const setHook = (hook: 'running' | 'failed' | undefined): void => {
      const hooks = new Map(this.state(uid).hooks);
      if (hook === undefined) hooks.delete(id);
      else hooks.set(id, hook);
      this.#remember(uid, { hooks });
    };
    setHook('running');
    const { result } = await this.#runHook(pod, container, { id, handler, field: 'lifecycle.postStart', ms: longestHookMs });
    if (result !== 'success') this.#record(pod, container, { type: 'Warning', reason: 'FailedPostStartHook', message: 'PostStartHook failed' });
    setHook(result === 'success' ? undefined : 'failed');
    this.#context.onChange(uid);
  }

  #runHook(pod: Stored<Pod>, container: Container, { id, handler, field, ms }: Hook) {
    const { runtime, world, ipOf } = this.#context;
    return runHandler(handler, { runtime, world, container, field, id, ip: ipOf(pod), timeoutMs: ms });
  }

  /**
   * A container that has just ended needs no other limits. The pod's limit is raised before the container's and lowered after it: the kernel does not let a container
   * have more than its pod, or a pod less than it uses. The first attempt to lower it may thus fail.
   */
  async #resize(pod: Stored<Pod>, { container, id }: ResizeContainer): Promise<Outcome> {
    const { runtime } = this.#context;
    const limitPod = () => runtime.limitPod(pod.metadata.uid, podLimitsOf(pod));
    const raised = await limitPod();
    const own = await runtime.limitContainer(id, limitsOf(container));
    const changed = own.ok && !raised.ok ? await limitPod() : own;
    if (changed.ok || changed.error.reason === 'not-found') return 'done';
    this.#record(pod, container, { type: 'Warning', reason: 'ResizeError', message: `Error resizing container ${container.name}: ${changed.error.message}` });
    return { retry: changed.error.message };
  }

  /** Does not wait for the container's end: meanwhile the worker decides about the others. */
  #kill(pod: Stored<Pod>, { container, id, deadline, message }: KillContainer): void {
    const { uid } = pod.metadata;
    const isFirst = !this.state(uid).stopping.has(id);
    this.#remember(uid, { stopping: new Map(this.state(uid).stopping).set(id, deadline) });
    if (isFirst) this.#record(pod, container, { type: 'Normal', reason: 'Killing', message });
    void this.#stopRun(pod, container, { id, deadline, withHook: isFirst });
    this.#context.onChange(uid);
  }

  async #stopRun(
    pod: Stored<Pod>,
    container: Container,
    { id, deadline, withHook }: { readonly id: string; readonly deadline: number; readonly withHook: boolean },
  ): Promise<void> {
    const { runtime, world } = this.#context;
    const left = (): number => Math.max(0, deadline - world.clock.now());
    const { preStop } = container.lifecycle ?? {};
    if (preStop !== undefined && withHook) {
      const { result } = await this.#runHook(pod, container, { id, handler: preStop, field: 'lifecycle.preStop', ms: left() });
      if (result !== 'success') this.#record(pod, container, { type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed' });
    }
    await runtime.stopContainer(id, Math.max(left(), withHook && preStop !== undefined ? leastAfterHookMs : 0));
  }

  async #stopSandbox(pod: Stored<Pod>): Promise<Outcome> {
    const { runtime, allocations, volumes } = this.#context;
    const { uid } = pod.metadata;
    await runtime.stopPod(uid);
    allocations.release(pod.spec.nodeName ?? '', uid);
    this.#remember(uid, { volumesReleased: true });
    volumes.podStopped(uid);
    this.#context.onChange(uid);
    return 'done';
  }

  /** The logs of a pod that is gone are removed with it. */
  async #discard(uid: string, node: string): Promise<Outcome> {
    const { runtime, allocations, volumes } = this.#context;
    await runtime.removePod(uid);
    allocations.forget(node, uid);
    volumes.podStopped(uid);
    return 'done';
  }

  async #deletePod(pod: Stored<Pod>): Promise<Outcome> {
    const { uid } = pod.metadata;
    const deleted = await this.#context.clientOf(pod.spec.nodeName ?? '').delete(podKind, refOf(pod), { gracePeriodSeconds: 0, preconditions: { uid } });
    return !deleted.ok && deleted.reason === 'notFound' ? 'done' : outcomeOf(deleted);
  }

  #setWaiting(uid: string, { name }: Container, waiting: { readonly reason: string; readonly message: string } | undefined): void {
    const before = this.state(uid).waiting;
    if (waiting === undefined && !before.has(name)) return;
    const all = new Map(before);
    if (waiting === undefined) all.delete(name);
    else all.set(name, waiting);
    this.#remember(uid, { waiting: all });
  }

  #remember(uid: string, changes: Partial<PodWorkerState>): void {
    this.#states.set(uid, { ...this.state(uid), ...changes });
  }

  #record(pod: Stored<Pod>, { name }: Container, event: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }): void {
    this.#context.recorder.record(containerReference(pod, name), event, pod.spec.nodeName ?? '');
  }
}

interface Hook {
  readonly id: string;
  readonly handler: ContainerHandler;
  readonly field: string;
  readonly ms: number;
}

/** However long a preStop hook took, its container still gets this long to end by itself. */
const leastAfterHookMs = 2_000;
