/** Performs the steps of a script: as kubectl would if a user does it, otherwise on the simulated machines and backends. */
import type { Node, PersistentVolume, Pod } from '../../api/generated/types.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../api/object.ts';
import { type RequestInfo, resourceRequestInfo } from '../../api/request-info.ts';
import { ApiError } from '../../api/status.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import type { Result } from '../../client/client.ts';
import type { Answer } from '../../client/transport.ts';
import type { Host } from '../../node/host.ts';
import { CloudFaults } from '../cluster/cloud-faults.ts';
import type { CloudStep } from './language/cloud-step.ts';
import { type ScriptStep, type MachineStep, type NodeStep, type ObjectStep, type ProcessStep, type ProcessName } from './language/script-step.ts';
import { podOfNode, type Reference, referenceText } from './language/reference.ts';
import { scenarioKind } from './language/scenario-kinds.ts';
import type { ScenarioCluster } from './scenario-cluster.ts';

export interface ScriptRunnerOptions {
  readonly cluster: ScenarioCluster;
  /** A host like the others. */
  readonly newHost: (node: string, zone: string) => Host;
  /** Called when a consequence of an earlier step happens. */
  readonly note: (text: string) => void;
  /** Called when a step is refused. */
  readonly refused: (message: string) => void;
}

const evictAgainMs = 5_000;
const evictForMs = 600_000;
const mostAttempts = 10;

export class ScriptRunner {
  readonly #cluster: ScenarioCluster;
  readonly #options: ScriptRunnerOptions;
  readonly #faults: CloudFaults | undefined;

  constructor(options: ScriptRunnerOptions) {
    this.#options = options;
    this.#cluster = options.cluster;
    const { cloud } = options.cluster;
    this.#faults = cloud === undefined ? undefined : new CloudFaults(cloud);
  }

  async perform(step: ScriptStep): Promise<void> {
    const meant = this.#withNode(step);
    const problem = meant instanceof Error ? meant : await this.#do(meant);
    if (problem !== undefined) this.#options.refused(problem.message);
  }

  /** Resolves 'the node of pod/db-0' when the step is performed. */
  #withNode(step: ScriptStep): ScriptStep | Error {
    if (!('node' in step)) return step;
    const pod = podOfNode(step.node);
    if (pod === undefined) return step;
    const { nodeName = '' } = this.#cluster.history.get(podKind, pod)?.spec ?? {};
    return nodeName === '' ? new Error(`${referenceText(pod)} is on no node`) : { ...step, node: nodeName };
  }

  /** Creates the object, or patches the existing one. */
  async apply(object: KubeObject): Promise<Error | undefined> {
    const kind = scenarioKind(object.apiVersion, object.kind);
    if (kind === undefined) return new Error(`there is no kind ${object.kind}`);
    const { namespace = 'default', name } = object.metadata;
    const query = new URLSearchParams({ fieldValidation: 'Strict' });
    const send = (info: RequestInfo, contentType: string) => this.#cluster.transport.send({ info, query, body: { contentType, object } });
    const made = await send(resourceRequestInfo('create', kind, { namespace }), 'application/json');
    const exists = made.type === 'failed' && made.error.reason === 'AlreadyExists' && name !== undefined;
    if (!exists) return problemOf(made);
    return problemOf(await send(resourceRequestInfo('patch', kind, { namespace, name }), 'application/merge-patch+json'));
  }

  #do(step: ScriptStep): Promise<Error | undefined> {
    switch (step.type) {
      case 'node dies':
      case 'node returns':
      case 'node is removed':
      case 'node joins':
      case 'zone goes dark':
      case 'zone returns':
        return this.#machines(step);
      case 'cordon':
      case 'uncordon':
      case 'drain':
      case 'taint':
      case 'untaint':
        return this.#nodeObject(step);
      case 'backend fails':
      case 'backend slows':
      case 'backend recovers':
      case 'crash in call':
      case 'process crashes':
        return this.#processes(step);
      case 'cloud fails':
      case 'instance freezes':
      case 'instance is lost':
      case 'cloud recovers':
        return Promise.resolve(this.#cloud(step));
      case 'scale':
      case 'resize':
      case 'delete':
      case 'label':
      case 'remove finalizers':
      case 'clear claimRef':
      case 'apply':
      case 'patch':
        return this.#objects(step);
    }
  }

  async #machines(step: MachineStep): Promise<Error | undefined> {
    const cluster = this.#cluster;
    switch (step.type) {
      case 'node dies':
        cluster.disconnect(step.node);
        this.#later(step.forMs, `${step.node} returns`, () => cluster.reconnect(step.node));
        return undefined;
      case 'node returns':
        cluster.reconnect(step.node);
        return undefined;
      case 'node is removed':
        await cluster.removeNode(step.node);
        return undefined;
      case 'node joins':
        // An agent of that name may still run.
        if (cluster.hosts.has(step.node)) return new Error(`a node ${step.node} exists or existed: choose another name`);
        void cluster.addNodes([this.#options.newHost(step.node, step.zone)]);
        return undefined;
      case 'zone goes dark':
        this.#failZone(step.zone);
        this.#later(step.forMs, `${step.zone} is back`, () => this.#restoreZone(step.zone));
        return undefined;
      case 'zone returns':
        this.#restoreZone(step.zone);
        return undefined;
    }
  }

  #cloud(step: CloudStep): Error | undefined {
    const { cloud } = this.#cluster;
    const faults = this.#faults;
    if (cloud === undefined || faults === undefined) return new Error('the cluster is in no cloud: cluster.cloud is not set');
    switch (step.type) {
      case 'cloud recovers':
        faults.endAll();
        return undefined;
      case 'cloud fails':
        faults.begin(step.fault);
        this.#later(step.forMs, step.over, () => void faults.end(step.fault));
        return undefined;
      case 'instance freezes':
      case 'instance is lost': {
        const instance = this.#cluster.instanceOf(step.node);
        if (instance === undefined) return new Error(`${step.node} is no instance of the cloud`);
        if (step.type === 'instance is lost') cloud.loseInstance(instance);
        else {
          const fault = { fault: 'frozen-instance', instance } as const;
          faults.begin(fault);
          this.#later(step.forMs, `${step.node} answers again`, () => void faults.end(fault));
        }
        return undefined;
      }
    }
  }

  #failZone(zone: string): void {
    this.#faults?.begin({ fault: 'dark-zone', zone });
    for (const node of this.#cluster.nodesIn(zone)) this.#cluster.disconnect(node);
    for (const backend of this.#cluster.backends.values()) backend.failedZones.add(zone);
  }

  #restoreZone(zone: string): void {
    this.#faults?.endAll((fault) => fault.fault === 'dark-zone' && fault.zone === zone);
    for (const node of this.#cluster.nodesIn(zone)) this.#cluster.reconnect(node);
    for (const backend of this.#cluster.backends.values()) backend.failedZones.delete(zone);
  }

  #later(ms: number | undefined, text: string, then: () => void): void {
    if (ms === undefined) return;
    this.#cluster.world.timers.after(ms, () => {
      this.#options.note(text);
      then();
    });
  }

  #crash(process: ProcessName, forMs: number): void {
    this.#cluster.crash(process);
    this.#later(forMs, `the ${process} ${process === 'controllers' ? 'are' : 'is'} back`, () => void this.#cluster.restart(process));
  }

  async #nodeObject(step: NodeStep): Promise<Error | undefined> {
    const { node } = step;
    switch (step.type) {
      case 'cordon':
        return this.#changeNode(node, (spec) => ({ ...spec, unschedulable: true }));
      case 'uncordon':
        return this.#changeNode(node, (spec) => ({ ...spec, unschedulable: false }));
      case 'drain': {
        const problem = await this.#changeNode(node, (spec) => ({ ...spec, unschedulable: true }));
        if (problem === undefined)
          for (const { metadata } of this.#podsOn(node)) void this.#evict(refOfPod(metadata), this.#cluster.world.clock.monotonic() + evictForMs);
        return problem;
      }
      case 'taint': {
        const { taint } = step;
        const others = ({ taints = [] }: Node['spec']) => taints.filter(({ key, effect }) => key !== taint.key || effect !== taint.effect);
        return this.#changeNode(node, (spec) => ({ ...spec, taints: [...others(spec), taint] }));
      }
      case 'untaint':
        return this.#changeNode(node, (spec) => ({ ...spec, taints: (spec.taints ?? []).filter(({ key }) => key !== step.key) }));
    }
  }

  /** Retries on conflict: controllers and the node write it too. */
  async #changeNode(name: string, change: (spec: Node['spec']) => Node['spec']): Promise<Error | undefined> {
    for (let attempt = 0; ; attempt++) {
      const found = await this.#cluster.client.get(nodeKind, { name });
      if (!found.ok) return found.error;
      const written = await this.#cluster.client.update(nodeKind, { ...found.value, spec: change(found.value.spec) });
      if (written.ok || written.reason !== 'conflict' || attempt >= mostAttempts) return errorOf(written);
    }
  }

  #podsOn(node: string): readonly Pod[] {
    const ofDaemonSet = ({ metadata }: Pod) => metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') ?? false;
    return this.#cluster.history.all(podKind).filter((pod) => pod.spec.nodeName === node && !hasEnded(pod) && !ofDaemonSet(pod));
  }

  async #evict({ namespace, name }: { readonly namespace: string; readonly name: string }, until: number): Promise<void> {
    const { client, world } = this.#cluster;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } };
    const asked = await client.postSubresource(podKind, { namespace, name, subresource: 'eviction' }, eviction);
    const budget = !asked.ok && asked.error instanceof ApiError && asked.error.code === 429;
    if (!budget || world.clock.monotonic() > until) return;
    world.timers.after(evictAgainMs, () => void this.#evict({ namespace, name }, until));
  }

  async #processes(step: ProcessStep): Promise<Error | undefined> {
    const cluster = this.#cluster;
    if (step.type === 'process crashes') {
      this.#crash(step.process, step.forMs);
      return undefined;
    }
    const backend = cluster.backends.get(step.driver);
    if (backend === undefined) return new Error(`there is no driver ${step.driver}`);
    switch (step.type) {
      case 'backend fails':
        backend.fail(step);
        this.#later(step.forMs, `${step.driver} works again`, () => undefined);
        return undefined;
      case 'backend slows':
        backend.slowDown(step.call, step.takesMs, step.forMs);
        this.#later(step.forMs, `${step.driver} is as fast as before`, () => undefined);
        return undefined;
      case 'backend recovers':
        backend.recover();
        return undefined;
      case 'crash in call':
        backend.afterNext(step.call, () => {
          this.#options.note('the controllers crash');
          this.#crash('controllers', step.forMs);
        });
        return undefined;
    }
  }

  async #objects(step: ObjectStep): Promise<Error | undefined> {
    switch (step.type) {
      case 'apply': {
        for (const object of step.objects) {
          const problem = await this.apply(object);
          if (problem !== undefined) return problem;
        }
        return undefined;
      }
      case 'scale':
        return this.#patch(step.object, { spec: { replicas: step.replicas } });
      case 'resize':
        return this.#patch(step.object, { spec: { resources: { requests: { storage: step.size } } } });
      case 'label':
        return this.#patch(step.object, { metadata: { labels: { [step.key]: step.value } } });
      case 'remove finalizers':
        return this.#patch(step.object, { metadata: { finalizers: null } });
      case 'clear claimRef':
        return this.#clearClaimRef(step.object);
      case 'patch':
        return this.#patch(step.object, step.patch);
      case 'delete': {
        const { kind, ...ref } = step.object;
        return errorOf(await this.#cluster.client.delete(kind, refOf(ref), step.force ? { gracePeriodSeconds: 0 } : {}));
      }
    }
  }

  async #clearClaimRef({ name }: Reference): Promise<Error | undefined> {
    const found = await this.#cluster.client.get(persistentVolumeKind, { name });
    if (!found.ok) return found.error;
    const { claimRef: _, ...spec } = found.value.spec;
    return errorOf(await this.#cluster.client.update<PersistentVolume>(persistentVolumeKind, { ...found.value, spec }));
  }

  async #patch({ kind, ...ref }: Reference, body: object): Promise<Error | undefined> {
    return errorOf(await this.#cluster.client.patch(kind, refOf(ref), { type: 'merge', body }));
  }
}

const refOfPod = ({ namespace = '', name = '' }: Pod['metadata']) => ({ namespace, name });

const refOf = ({ namespace, name }: Pick<Reference, 'namespace' | 'name'>) => (namespace === '' ? { name } : { namespace, name });

const errorOf = (result: Result<unknown>): Error | undefined => (result.ok ? undefined : result.error);

const problemOf = (answer: Answer): Error | undefined => (answer.type === 'failed' || answer.type === 'unreachable' ? answer.error : undefined);
