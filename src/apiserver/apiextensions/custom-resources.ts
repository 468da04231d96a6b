import { loadCel } from '../../api/cel/environment.ts';
import { type CustomKinds, customKinds } from '../../api/apiextensions/custom-kind.ts';
import { conditionOf, type CustomResourceDefinition, isTrue, withCondition } from '../../api/apiextensions/definition.ts';
import type { Kind } from '../../api/kind.ts';
import { cleanupFinalizer, customResourceDefinitionKind } from '../../api/kinds/apiextensions/custom-resource-definition.ts';
import type { KubeObject } from '../../api/object.ts';
import { type RequestInfo, resourceRequestInfo } from '../../api/request-info.ts';
import { ApiError } from '../../api/status.ts';
import type { Stored } from '../../api/stored.ts';
import { prefixEnd, type Store, type Watch } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';
import type { Api, User } from '../api.ts';
import { type FollowedChange, PrefixFollower } from '../objects/follow-prefix.ts';
import { timestamp } from '../objects/metadata.ts';
import type { Resource, Resources } from '../objects/resources.ts';
import { revisionOf } from '../objects/object-revision.ts';
import { namingStatus } from './naming.ts';

export interface CustomResourcesOptions {
  readonly store: Store;
  readonly world: World;
  readonly resources: Resources;
  /** Where statuses are written and objects are deleted. */
  readonly api: Pick<Api, 'handle'>;
  /** Served without being stored; a stored definition of the same name takes their place. */
  readonly predefined: readonly CustomResourceDefinition[];
}

interface Form {
  /** Names and generation of the spec: the kinds are made again only if they change. */
  readonly shape: string;
  readonly terminating: boolean;
}

const formOf = (definition: Stored<CustomResourceDefinition>): Form => ({
  shape: `${definition.metadata.uid} ${definition.metadata.generation ?? 0} ${JSON.stringify(definition.status.acceptedNames)}`,
  terminating: isTrue(definition, 'Terminating'),
});

/** The user as which the server writes statuses and deletes objects. */
const apiserver: User = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };

const RETRY_MS = 1_000;

/**
 * CustomResourceDefinitions: their status, the kinds they define, and their deletion (upstream: apiextensions-apiserver).
 *
 * Expected flow: a definition is stored → its status says whether its names are accepted → once the status is stored, its kinds are served, before
 * any watcher sees it. A deleted definition stays until its last object is gone.
 *
 * Guarantees: an Established definition is served. Every step follows from the stored definition alone, so a crash loses nothing.
 */
export class CustomResources {
  readonly #options: CustomResourcesOptions;
  readonly #definitions = new Map<string, CustomResourceDefinition>();
  readonly #predefined: ReadonlyMap<string, CustomKinds>;
  /** Of stored definitions, or predefined. */
  readonly #kinds = new Map<string, CustomKinds>();
  /** From which form of its definition each kind was made. */
  readonly #forms = new Map<string, Form>();
  readonly #resource: Resource;
  readonly #follower: PrefixFollower;
  readonly #pending = new Set<string>();
  #working = false;
  #objects = new Map<string, Watch>();
  #stopped = false;
  #listed: { readonly generation: number; readonly kinds: readonly Kind[] } | undefined;
  /** Undefined once all definitions that were stored at the start are served. */
  loading: Promise<void> | undefined;

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
    this.#resource = options.resources.require('apiextensions.k8s.io/v1', 'customresourcedefinitions');
    this.#predefined = new Map(options.predefined.map((definition) => [definition.metadata.name ?? '', customKinds(definition)]));
    for (const name of this.#predefined.keys()) this.#serveAs(name, this.#predefined.get(name));
    this.#follower = this.#follow();
    this.loading = this.#follower.start().finally(() => {
      this.loading = undefined;
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#follower.stop();
    for (const watch of this.#objects.values()) watch.stop();
  }

  /** All kinds that definitions define: the same array until they change. */
  kinds(): readonly Kind[] {
    if (this.#listed?.generation !== this.#options.resources.generation) {
      this.#listed = { generation: this.#options.resources.generation, kinds: [...this.#kinds.values()].flatMap(({ served }) => served) };
    }
    return this.#listed.kinds;
  }

  #follow(): PrefixFollower {
    const { store, world } = this.#options;
    return new PrefixFollower({
      store,
      timers: world.timers,
      prefix: this.#resource.prefix,
      changes: (changes) => this.#changed(changes),
      // The CEL rules of a definition are checked as soon as it is served.
      beforePage: async (entries) => {
        if (entries.length > 0) await loadCel();
      },
      ended: () => this.stop(),
    });
  }

  #changed(changes: readonly FollowedChange[]): void {
    for (const { entry, previous, key } of changes) {
      if (entry !== undefined) this.#observe(revisionOf(this.#resource, entry).object as Stored<CustomResourceDefinition>);
      else if (previous !== undefined) this.#forget(key.slice(this.#resource.prefix.length));
    }
  }

  #observe(definition: Stored<CustomResourceDefinition>): void {
    const name = definition.metadata.name;
    this.#definitions.set(name, definition);
    if (isTrue(definition, 'Established')) this.#serve(name, definition);
    this.#enqueue(name);
  }

  #serve(name: string, definition: Stored<CustomResourceDefinition>): void {
    const form = formOf(definition);
    const old = this.#forms.get(name);
    if (old !== undefined && old.shape === form.shape && old.terminating === form.terminating) return;
    this.#forms.set(name, form);
    const { base, served } = customKinds(definition);
    const { terminating } = form;
    // As in Kubernetes, a changed definition ends the watches of its objects. A terminating one does not: its watchers see the deletions.
    if (old?.shape !== form.shape) this.#options.resources.redefined(name);
    // A terminating definition accepts no new objects.
    const kinds = { base, served: terminating ? served.map((kind) => ({ ...kind, verbs: kind.verbs.filter((verb) => verb !== 'create') })) : served };
    this.#serveAs(name, kinds);
  }

  /** Undefined: no longer. */
  #serveAs(name: string, kinds: CustomKinds | undefined): void {
    if (kinds === undefined) this.#kinds.delete(name);
    else this.#kinds.set(name, kinds);
    this.#options.resources.define(name, kinds);
  }

  #forget(name: string): void {
    const gone = this.#definitions.get(name);
    this.#definitions.delete(name);
    this.#forms.delete(name);
    this.#options.resources.redefined(name);
    this.#serveAs(name, this.#predefined.get(name));
    this.#objects.get(name)?.stop();
    this.#objects.delete(name);
    // Its names may be accepted for another definition now.
    for (const [other, { spec }] of this.#definitions) if (spec.group === gone?.spec.group) this.#enqueue(other);
  }

  #enqueue(name: string): void {
    this.#pending.add(name);
    if (this.#working) return;
    this.#working = true;
    this.#options.world.timers.soon(() => void this.#processPending());
  }

  /** One definition at a time: the first one gets a name that two ask for. */
  async #processPending(): Promise<void> {
    for (const name of this.#pending) {
      if (this.#stopped) break;
      this.#pending.delete(name);
      try {
        await this.#sync(name);
      } catch (error) {
        // Another write changed the definition, and its watch event enqueues it again.
        if (error instanceof ApiError && (error.code === 404 || error.code === 409)) continue;
        if (this.#stopped) break;
        this.#options.world.log.warn('cannot sync a CustomResourceDefinition', { name, error });
        this.#options.world.timers.after(RETRY_MS, () => this.#enqueue(name));
      }
    }
    this.#working = false;
  }

  async #sync(name: string): Promise<void> {
    const definition = this.#definitions.get(name);
    if (definition === undefined) return;
    if (definition.metadata.deletionTimestamp !== undefined) return this.#finalize(name, definition);
    const status = namingStatus(definition, this.#definitions.values(), this.#now());
    if (status === undefined) return;
    await this.#put({ name, subresource: 'status' }, { ...definition, status });
    // A name that this definition gave up may be accepted for another.
    for (const [other, { spec }] of this.#definitions) if (other !== name && spec.group === definition.spec.group) this.#enqueue(other);
  }

  #now(): string {
    return timestamp(this.#options.world.clock.now());
  }

  /** Deletes the objects first, then removes the finalizer. */
  async #finalize(name: string, definition: CustomResourceDefinition): Promise<void> {
    if (!(definition.metadata.finalizers ?? []).includes(cleanupFinalizer)) return;
    if (conditionOf(definition, 'Terminating')?.reason !== 'InstanceDeletionInProgress') {
      const condition = { type: 'Terminating', status: 'True', reason: 'InstanceDeletionInProgress', message: 'CustomResource deletion is in progress' };
      await this.#put({ name, subresource: 'status' }, { ...definition, status: withCondition(definition.status, condition, this.#now()) });
      return;
    }
    const kind = this.#kinds.get(name)?.served[0];
    if (kind !== undefined && (await this.#deleteObjects(name, kind))) return;
    const finalizers = (definition.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer);
    await this.#put({ name }, { ...definition, metadata: { ...definition.metadata, finalizers } });
  }

  /** @returns whether any object is left; its removal enqueues the definition again */
  async #deleteObjects(name: string, kind: Kind): Promise<boolean> {
    const { store, resources } = this.#options;
    const resource = resources.require(`${kind.group}/${kind.version}`, kind.plural);
    const { prefix } = resource;
    const { entries } = await store.range({ from: prefix, to: prefixEnd(prefix) });
    for (const entry of entries) {
      const { metadata } = revisionOf(resource, entry).object;
      if (metadata.deletionTimestamp !== undefined) continue;
      await this.#request(resourceRequestInfo('delete', kind, { namespace: metadata.namespace, name: metadata.name }), undefined);
    }
    const after = store.revision();
    const left = await store.range({ from: prefix, to: prefixEnd(prefix), limit: 1 });
    if (left.entries.length === 0) return false;
    this.#objects.get(name)?.stop();
    const enqueue = () => this.#enqueue(name);
    // Where events were lost, the definition is looked at again.
    this.#objects.set(name, store.watch({ prefix, after }, { changes: enqueue, end: enqueue }));
    return true;
  }

  async #put(at: { readonly name: string; readonly subresource?: string }, object: CustomResourceDefinition): Promise<void> {
    await this.#request(resourceRequestInfo('update', customResourceDefinitionKind, at), object);
  }

  async #request(info: RequestInfo, object: KubeObject | undefined): Promise<void> {
    const body =
      object === undefined ? ({ type: 'none' } as const) : ({ type: 'object', contentType: 'application/json', object: structuredClone(object) } as const);
    try {
      await this.#options.api.handle({ info, query: new URLSearchParams(), user: apiserver, body, userAgent: 'moor/custom-resources' });
    } catch (error) {
      if (!(info.verb === 'delete' && error instanceof ApiError && error.code === 404)) throw error;
    }
  }
}
