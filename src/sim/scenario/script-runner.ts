/** Does what a script says: as kubectl would where a person does it, else to the machines and backends themselves. */
import type { Node, PersistentVolume, Pod } from '../../api/generated/types.ts';
import { kindByName } from '../../api/kinds/index.ts';
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
import { type ScriptStep, type MachineStep, type NodeStep, type ObjectStep, podOfNode, type ProcessStep, type ProcessName } from './language/script-step.ts';
import { type Reference, referenceText } from './language/reference.ts';
import type { ScenarioCluster } from './scenario-cluster.ts';

export interface ScriptRunnerOptions {
  readonly stage: ScenarioCluster;
  /** A machine like the others. */
  readonly newHost: (node: string, zone: string) => Host;
  /** Something happens later because of what happened now. */
  readonly note: (text: string) => void;
  /** The script asked for something that was refused. */
  readonly refused: (message: string) => void;
}

const evictAgainMs = 5_000;
const evictForMs = 600_000;
const mostAttempts = 10;

export class ScriptRunner {
  readonly #stage: ScenarioCluster;
  readonly #options: ScriptRunnerOptions;

  constructor(options: ScriptRunnerOptions) {
    this.#options = options;
    this.#stage = options.stage;
  }

  async perform(happening: ScriptStep): Promise<void> {
    const meant = this.#withNode(happening);
    const problem = meant instanceof Error ? meant : await this.#do(meant);
    if (problem !== undefined) this.#options.refused(problem.message);
  }

  /** 'the node of pod/db-0' is known when it happens. */
  #withNode(happening: ScriptStep): ScriptStep | Error {
    if (!('node' in happening)) return happening;
    const pod = podOfNode(happening.node);
    if (pod === undefined) return happening;
    const { nodeName = '' } = this.#stage.history.get(podKind, pod)?.spec ?? {};
    return nodeName === '' ? new Error(`${referenceText(pod)} is on no node`) : { ...happening, node: nodeName };
  }

  /** Creates it, or changes what is there into it. */
  async apply(object: KubeObject): Promise<Error | undefined> {
    const kind = kindByName(object.apiVersion, object.kind);
    if (kind === undefined) return new Error(`there is no kind ${object.kind}`);
    const { namespace = 'default', name } = object.metadata;
    const query = new URLSearchParams({ fieldValidation: 'Strict' });
    const send = (info: RequestInfo, contentType: string) => this.#stage.transport.send({ info, query, body: { contentType, object } });
    const made = await send(resourceRequestInfo('create', kind, { namespace }), 'application/json');
    const exists = made.type === 'failed' && made.error.reason === 'AlreadyExists' && name !== undefined;
    if (!exists) return problemOf(made);
    return problemOf(await send(resourceRequestInfo('patch', kind, { namespace, name }), 'application/merge-patch+json'));
  }

  #do(happening: ScriptStep): Promise<Error | undefined> {
    switch (happening.type) {
      case 'node dies':
      case 'node returns':
      case 'node is removed':
      case 'node joins':
      case 'zone goes dark':
      case 'zone returns':
        return this.#machines(happening);
      case 'cordon':
      case 'uncordon':
      case 'drain':
      case 'taint':
      case 'untaint':
        return this.#nodeObject(happening);
      case 'backend fails':
      case 'backend slows':
      case 'backend recovers':
      case 'crash in call':
      case 'process crashes':
        return this.#processes(happening);
      case 'scale':
      case 'resize':
      case 'delete':
      case 'label':
      case 'remove finalizers':
      case 'clear claimRef':
      case 'apply':
      case 'patch':
        return this.#objects(happening);
    }
  }

  async #machines(happening: MachineStep): Promise<Error | undefined> {
    const stage = this.#stage;
    switch (happening.type) {
      case 'node dies':
        stage.disconnect(happening.node);
        this.#later(happening.forMs, `${happening.node} returns`, () => stage.reconnect(happening.node));
        return undefined;
      case 'node returns':
        stage.reconnect(happening.node);
        return undefined;
      case 'node is removed':
        await stage.removeNode(happening.node);
        return undefined;
      case 'node joins':
        // An agent of that name may still be about.
        if (stage.hosts.has(happening.node)) return new Error(`there is, or was, a node ${happening.node}: choose another name`);
        void stage.addNodes([this.#options.newHost(happening.node, happening.zone)]);
        return undefined;
      case 'zone goes dark':
        this.#darken(happening.zone);
        this.#later(happening.forMs, `${happening.zone} is back`, () => this.#lighten(happening.zone));
        return undefined;
      case 'zone returns':
        this.#lighten(happening.zone);
        return undefined;
    }
  }

  #darken(zone: string): void {
    for (const node of this.#stage.nodesIn(zone)) this.#stage.disconnect(node);
    for (const backend of this.#stage.backends.values()) backend.failedZones.add(zone);
  }

  #lighten(zone: string): void {
    for (const node of this.#stage.nodesIn(zone)) this.#stage.reconnect(node);
    for (const backend of this.#stage.backends.values()) backend.failedZones.delete(zone);
  }

  #later(ms: number | undefined, text: string, then: () => void): void {
    if (ms === undefined) return;
    this.#stage.world.timers.after(ms, () => {
      this.#options.note(text);
      then();
    });
  }

  #crash(process: ProcessName, forMs: number): void {
    this.#stage.crash(process);
    this.#later(forMs, `the ${process} ${process === 'controllers' ? 'are' : 'is'} back`, () => void this.#stage.restart(process));
  }

  async #nodeObject(happening: NodeStep): Promise<Error | undefined> {
    const { node } = happening;
    switch (happening.type) {
      case 'cordon':
        return this.#changeNode(node, (spec) => ({ ...spec, unschedulable: true }));
      case 'uncordon':
        return this.#changeNode(node, (spec) => ({ ...spec, unschedulable: false }));
      case 'drain': {
        const problem = await this.#changeNode(node, (spec) => ({ ...spec, unschedulable: true }));
        if (problem === undefined)
          for (const { metadata } of this.#podsOn(node)) void this.#evict(refOfPod(metadata), this.#stage.world.clock.monotonic() + evictForMs);
        return problem;
      }
      case 'taint': {
        const { taint } = happening;
        const others = ({ taints = [] }: Node['spec']) => taints.filter(({ key, effect }) => key !== taint.key || effect !== taint.effect);
        return this.#changeNode(node, (spec) => ({ ...spec, taints: [...others(spec), taint] }));
      }
      case 'untaint':
        return this.#changeNode(node, (spec) => ({ ...spec, taints: (spec.taints ?? []).filter(({ key }) => key !== happening.key) }));
    }
  }

  /** Others write the node too: whoever comes second reads again. */
  async #changeNode(name: string, change: (spec: Node['spec']) => Node['spec']): Promise<Error | undefined> {
    for (let attempt = 0; ; attempt++) {
      const found = await this.#stage.client.get(nodeKind, { name });
      if (!found.ok) return found.error;
      const written = await this.#stage.client.update(nodeKind, { ...found.value, spec: change(found.value.spec) });
      if (written.ok || written.reason !== 'conflict' || attempt >= mostAttempts) return errorOf(written);
    }
  }

  #podsOn(node: string): readonly Pod[] {
    const ofDaemonSet = ({ metadata }: Pod) => metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') ?? false;
    return this.#stage.history.all(podKind).filter((pod) => pod.spec.nodeName === node && !hasEnded(pod) && !ofDaemonSet(pod));
  }

  async #evict({ namespace, name }: { readonly namespace: string; readonly name: string }, until: number): Promise<void> {
    const { client, world } = this.#stage;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } };
    const asked = await client.postSubresource(podKind, { namespace, name, subresource: 'eviction' }, eviction);
    const budget = !asked.ok && asked.error instanceof ApiError && asked.error.code === 429;
    if (!budget || world.clock.monotonic() > until) return;
    world.timers.after(evictAgainMs, () => void this.#evict({ namespace, name }, until));
  }

  async #processes(happening: ProcessStep): Promise<Error | undefined> {
    const stage = this.#stage;
    if (happening.type === 'process crashes') {
      this.#crash(happening.process, happening.forMs);
      return undefined;
    }
    const backend = stage.backends.get(happening.driver);
    if (backend === undefined) return new Error(`there is no driver ${happening.driver}`);
    switch (happening.type) {
      case 'backend fails':
        backend.fail(happening);
        this.#later(happening.forMs, `${happening.driver} works again`, () => undefined);
        return undefined;
      case 'backend slows':
        backend.slowDown(happening.call, happening.takesMs, happening.forMs);
        this.#later(happening.forMs, `${happening.driver} is as fast as ever`, () => undefined);
        return undefined;
      case 'backend recovers':
        backend.recover();
        return undefined;
      case 'crash in call':
        backend.afterNext(happening.call, () => {
          this.#options.note('the controllers crash');
          this.#crash('controllers', happening.forMs);
        });
        return undefined;
    }
  }

  async #objects(happening: ObjectStep): Promise<Error | undefined> {
    switch (happening.type) {
      case 'apply': {
        for (const object of happening.objects) {
          const problem = await this.apply(object);
          if (problem !== undefined) return problem;
        }
        return undefined;
      }
      case 'scale':
        return this.#patch(happening.object, { spec: { replicas: happening.replicas } });
      case 'resize':
        return this.#patch(happening.object, { spec: { resources: { requests: { storage: happening.size } } } });
      case 'label':
        return this.#patch(happening.object, { metadata: { labels: { [happening.key]: happening.value } } });
      case 'remove finalizers':
        return this.#patch(happening.object, { metadata: { finalizers: null } });
      case 'clear claimRef':
        return this.#clearClaimRef(happening.object);
      case 'patch':
        return this.#patch(happening.object, happening.patch);
      case 'delete': {
        const { kind, ...ref } = happening.object;
        return errorOf(await this.#stage.client.delete(kind, refOf(ref), happening.force ? { gracePeriodSeconds: 0 } : {}));
      }
    }
  }

  async #clearClaimRef({ name }: Reference): Promise<Error | undefined> {
    const found = await this.#stage.client.get(persistentVolumeKind, { name });
    if (!found.ok) return found.error;
    const { claimRef: _, ...spec } = found.value.spec;
    return errorOf(await this.#stage.client.update<PersistentVolume>(persistentVolumeKind, { ...found.value, spec }));
  }

  async #patch({ kind, ...ref }: Reference, body: object): Promise<Error | undefined> {
    return errorOf(await this.#stage.client.patch(kind, refOf(ref), { type: 'merge', body }));
  }
}

const refOfPod = ({ namespace = '', name = '' }: Pod['metadata']) => ({ namespace, name });

const refOf = ({ namespace, name }: Pick<Reference, 'namespace' | 'name'>) => (namespace === '' ? { name } : { namespace, name });

const errorOf = (result: Result<unknown>): Error | undefined => (result.ok ? undefined : result.error);

const problemOf = (answer: Answer): Error | undefined => (answer.type === 'failed' || answer.type === 'unreachable' ? answer.error : undefined);
