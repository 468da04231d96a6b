import type { OwnerReference } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Kind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Change } from '../../../client/informers/cache.ts';
import { type Coordinates, type OwnerLookup, sameOwners } from './actions.ts';
import { FOREGROUND, type GarbageCollectorSnapshot, ORPHAN, type Owner, type OwnerState } from './decide.ts';

/**
 * The owner graph of all kinds, by uid. Each change updates it in time proportional to the owners of the changed object, and
 * returns the objects to enqueue. An object without owners and dependents costs one map entry.
 */
export class OwnerGraph {
  readonly #kindOf: OwnerLookup['kindOf'];
  readonly #objects = new Map<string, Stored<KubeObject>>();
  /** Everything that an object names as its owner, whether it exists or not. */
  readonly #owners = new Map<string, OwnerNode>();

  constructor(kindOf: OwnerLookup['kindOf']) {
    this.#kindOf = kindOf;
  }

  /** Applies a change of an object. */
  change({ before, after }: Change<KubeObject>): GraphChanges {
    const changes = new GraphChanges();
    const replaced = before !== undefined && before.metadata.uid !== after?.metadata.uid;
    if (replaced) this.#remove(before, changes);
    if (after !== undefined) this.#put(after, changes);
    return changes;
  }

  /** Stores the server's answer about an owner. */
  lookedUp(owner: Coordinates, exists: boolean, now: number): void {
    const checks = this.#owners.get(owner.uid)?.checks;
    if (checks === undefined) return;
    const key = coordinateKey(owner);
    const tries = (checks.get(key)?.tries ?? 0) + 1;
    checks.set(key, { exists, tries, checkAgainAt: now + Math.min(firstCheckAgainMs * 2 ** (tries - 1), longestCheckAgainMs) });
  }

  snapshot(uid: string): GarbageCollectorSnapshot | undefined {
    const object = this.#objects.get(uid);
    if (object === undefined) return undefined;
    const { ownerReferences = [], finalizers = [], resourceVersion } = object.metadata;
    const node = this.#owners.get(uid);
    const owners = ownerReferences.map((reference) => this.#owner(reference, object));
    return {
      target: { ...coordinatesOf(object), resourceVersion, ownerReferences },
      deleting: object.metadata.deletionTimestamp !== undefined,
      finalizers,
      owners,
      hasDependents: node !== undefined,
      isBlocked: (node?.blocking.size ?? 0) > 0,
      dependentWaits: owners.some(({ state }) => state.type === 'waiting') && this.#dependentWaits(node),
    };
  }

  /** uids of objects that name owners of a kind. Scans all objects, so only for a kind that is newly served. */
  *ownedBy({ group, kind }: Pick<Kind, 'group' | 'kind'>): Iterable<string> {
    const isOf = (owner: OwnerReference): boolean => owner.kind === kind && owner.apiVersion.startsWith(`${group}/`);
    for (const [uid, { metadata }] of this.#objects) if (metadata.ownerReferences?.some(isOf) === true) yield uid;
  }

  /** Numbers of objects and owners, for tests. */
  get size(): { readonly objects: number; readonly owners: number } {
    return { objects: this.#objects.size, owners: this.#owners.size };
  }

  #put(object: Stored<KubeObject>, changes: GraphChanges): void {
    const { uid, ownerReferences = [] } = object.metadata;
    const known = this.#objects.get(uid);
    this.#objects.set(uid, object);
    const ownersBefore = known?.metadata.ownerReferences ?? [];
    const ownersChanged = !sameOwners(ownersBefore, ownerReferences);
    if (ownersChanged) this.#relink(object, ownersBefore, changes);
    const phase = deletionPhase(object);
    const phaseChanged = phase !== (known === undefined ? 'none' : deletionPhase(known));
    if (ownersChanged || phaseChanged) changes.enqueue(uid);
    const node = this.#owners.get(uid);
    const concernsDependents = known === undefined || (phaseChanged && (phase === 'orphaning' || phase === 'waiting'));
    if (node === undefined || !concernsDependents) return;
    for (const dependent of node.dependents) changes.enqueue(dependent);
    if (known === undefined) for (const dependent of node.dependents) this.#reportMisplaced(this.#objects.get(dependent), object, changes);
  }

  #remove(object: Stored<KubeObject>, changes: GraphChanges): void {
    const { uid, ownerReferences = [] } = object.metadata;
    this.#objects.delete(uid);
    for (const { uid: owner } of ownerReferences) this.#unlink(uid, owner, changes);
    const node = this.#owners.get(uid);
    if (node === undefined) return;
    node.gone = true;
    for (const dependent of node.dependents) changes.enqueue(dependent);
  }

  #relink(object: Stored<KubeObject>, before: readonly OwnerReference[], changes: GraphChanges): void {
    const { uid, ownerReferences = [] } = object.metadata;
    for (const { uid: owner } of before) if (!ownerReferences.some((reference) => reference.uid === owner)) this.#unlink(uid, owner, changes);
    for (const { uid: owner } of ownerReferences) {
      const node = this.#node(owner);
      const wasBlocking = node.blocking.has(uid);
      const blocks = ownerReferences.some((reference) => reference.uid === owner && reference.blockOwnerDeletion === true);
      node.dependents.add(uid);
      if (blocks) node.blocking.add(uid);
      else node.blocking.delete(uid);
      if (wasBlocking && node.blocking.size === 0) changes.enqueue(owner);
      if (!before.some((reference) => reference.uid === owner)) this.#reportMisplaced(object, this.#objects.get(owner), changes);
    }
  }

  #unlink(dependent: string, owner: string, changes: GraphChanges): void {
    const node = this.#owners.get(owner);
    if (node === undefined) return;
    node.dependents.delete(dependent);
    const wasBlocking = node.blocking.delete(dependent);
    if (node.dependents.size === 0) this.#owners.delete(owner);
    // The owner may have waited for this dependent only. (It is not enqueued for each of many dependents: that would be quadratic.)
    if (node.dependents.size === 0 || (wasBlocking && node.blocking.size === 0)) changes.enqueue(owner);
  }

  #reportMisplaced(dependent: Stored<KubeObject> | undefined, owner: Stored<KubeObject> | undefined, changes: GraphChanges): void {
    const namespace = owner?.metadata.namespace;
    if (dependent === undefined || owner === undefined || namespace === undefined || namespace === dependent.metadata.namespace) return;
    const reference = dependent.metadata.ownerReferences?.find(({ uid }) => uid === owner.metadata.uid);
    if (reference !== undefined) changes.report({ dependent, reference });
  }

  #owner(reference: OwnerReference, dependent: Stored<KubeObject>): Owner {
    const kind = this.#kindOf(reference);
    const namespace = kind?.namespaced === true ? dependent.metadata.namespace : undefined;
    const coordinates: Coordinates = { apiVersion: reference.apiVersion, kind: reference.kind, namespace, name: reference.name, uid: reference.uid };
    return { reference, coordinates, state: this.#ownerState(coordinates, kind) };
  }

  #ownerState(coordinates: Coordinates, kind: { readonly namespaced: boolean } | undefined): OwnerState {
    const object = this.#objects.get(coordinates.uid);
    const phase = object === undefined ? 'none' : deletionPhase(object);
    // By uid alone: the owner is finished once no object names its uid, even with wrong coordinates.
    if (phase === 'orphaning') return { type: 'orphaning' };
    const node = this.#owners.get(coordinates.uid);
    // The owner may have been deleted together with its kind; its deletion arrived first.
    if (kind === undefined) return { type: node?.gone === true ? 'absent' : 'unserved' };
    if (kind.namespaced && coordinates.namespace === undefined) return { type: 'unreachable' };
    if (object !== undefined && coordinateKey(coordinatesOf(object)) === coordinateKey(coordinates)) return { type: phase === 'waiting' ? 'waiting' : 'solid' };
    if (node?.gone === true) return { type: 'absent' };
    const check = node?.checks.get(coordinateKey(coordinates));
    if (check === undefined) return { type: 'unknown' };
    return check.exists ? { type: 'unseen', checkAgainAt: check.checkAgainAt } : { type: 'absent' };
  }

  #dependentWaits(node: OwnerNode | undefined): boolean {
    for (const uid of node?.dependents ?? []) {
      const dependent = this.#objects.get(uid);
      if (dependent !== undefined && deletionPhase(dependent) === 'waiting') return true;
    }
    return false;
  }

  #node(uid: string): OwnerNode {
    let node = this.#owners.get(uid);
    if (node === undefined) {
      node = { dependents: new Set(), blocking: new Set(), gone: false, checks: new Map() };
      this.#owners.set(uid, node);
    }
    return node;
  }
}

interface Misplaced {
  readonly dependent: Stored<KubeObject>;
  readonly reference: OwnerReference;
}

const nothing: ReadonlySet<string> = new Set();
const none: readonly Misplaced[] = [];

/** What follows from a change. Usually nothing, and then no collection is allocated. */
export class GraphChanges {
  #toEnqueue: Set<string> | undefined;
  #misplaced: Misplaced[] | undefined;

  /** uids of objects to decide. */
  get toEnqueue(): ReadonlySet<string> {
    return this.#toEnqueue ?? nothing;
  }

  /** References to an owner that exists in another namespace. */
  get misplaced(): readonly Misplaced[] {
    return this.#misplaced ?? none;
  }

  enqueue(uid: string): void {
    (this.#toEnqueue ??= new Set()).add(uid);
  }

  report(misplaced: Misplaced): void {
    (this.#misplaced ??= []).push(misplaced);
  }
}

interface OwnerNode {
  readonly dependents: Set<string>;
  /** Dependents with blockOwnerDeletion. */
  readonly blocking: Set<string>;
  /** An informer delivered its deletion. */
  gone: boolean;
  /** By coordinates, since references to one uid may differ in them. */
  readonly checks: Map<string, { readonly exists: boolean; readonly tries: number; readonly checkAgainAt: number }>;
}

const firstCheckAgainMs = 500;
const longestCheckAgainMs = 60_000;

function deletionPhase({ metadata }: KubeObject): 'none' | 'deleting' | 'orphaning' | 'waiting' {
  if (metadata.deletionTimestamp === undefined) return 'none';
  if (metadata.finalizers?.includes(ORPHAN) === true) return 'orphaning';
  return metadata.finalizers?.includes(FOREGROUND) === true ? 'waiting' : 'deleting';
}

const coordinatesOf = ({ apiVersion, kind, metadata }: Stored<KubeObject>): Coordinates => ({
  apiVersion,
  kind,
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid,
});

const coordinateKey = (c: Coordinates): string => [c.apiVersion, c.kind, c.namespace ?? '', c.name, c.uid].join('\0');
