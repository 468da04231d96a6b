import type { ResourceQuota } from '../../../api/generated/types.ts';
import { type Entry, prefixEnd, type Store } from '../../../store/contract.ts';
import type { Clock, World } from '../../../world/world.ts';
import { prefixOf, type Resource, type Resources } from '../../registry/resources.ts';
import { encode, storedOf } from '../../registry/stored.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../chain.ts';
import { ClusterReader } from '../cluster-reader.ts';
import { refused } from '../refused.ts';
import type { Evaluator } from './evaluator.ts';
import { countsAgainst, evaluatorsOf, measure } from './evaluators.ts';
import { addUsage, describeUsage, exceeded, formatUsage, growth, negativeNames, parseUsage, restrict, type Usage } from './usage.ts';

/**
 * Quotas are kept, not merely watched: what an object uses is added to `status.used` in the transaction that creates the
 * object, so two requests that race for the last of something cannot both get it. Nothing is given back here: a controller
 * measures anew when objects go. As long as it has not, a request that seems to exceed a quota is measured itself
 * before it is refused.
 */
export function resourceQuota(resources: Resources, deps: { readonly store: Store; readonly world: World }): AdmissionPlugin {
  const keeper = new QuotaKeeper(resources, deps);
  return {
    name: 'ResourceQuota',
    handles: (operation, resource, subresource) => keeper.evaluators.get(resource)?.handles(operation, subresource) === true,
    validate: (request) => keeper.reserve(request),
  };
}

interface Found {
  readonly entry: Entry;
  readonly quota: ResourceQuota;
  /** An earlier object of the same draft has taken from it: what is stored is not all that is used. */
  readonly pending: boolean;
}

class QuotaKeeper {
  readonly evaluators: ReadonlyMap<Resource, Evaluator>;
  readonly #quotas: Resource;
  readonly #reader: ClusterReader;
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(resources: Resources, { store, world }: { readonly store: Store; readonly world: World }) {
    this.evaluators = evaluatorsOf(resources);
    this.#quotas = resources.require('v1', 'resourcequotas');
    this.#reader = new ClusterReader(store);
    this.#store = store;
    this.#clock = world.clock;
  }

  /** Takes what a request needs from every quota that it counts against. @throws ApiError 403 */
  async reserve(request: AdmissionRequest): Promise<void> {
    const evaluator = this.evaluators.get(request.resource);
    if (evaluator === undefined) return;
    const now = this.#clock.now();
    const prefix = prefixOf(this.#quotas, request.namespace);
    const { entries } = await this.#store.range({ from: prefix, to: prefixEnd(prefix) });
    for (const entry of entries) {
      if (demand(request, evaluator, { quota: storedOf(this.#quotas, entry).object as ResourceQuota, now }).size === 0) continue;
      await request.draft.hold(entry.key);
      const found = await this.#latest(request, entry.key);
      if (found === undefined) continue;
      const delta = demand(request, evaluator, { quota: found.quota, now });
      if (delta.size > 0) await this.#take(request, found, delta);
    }
  }

  async #latest({ draft }: AdmissionRequest, key: string): Promise<Found | undefined> {
    const entry = await this.#store.get(key);
    if (entry === undefined) return undefined;
    const pending = draft.pending(key);
    return { entry, quota: (pending ?? storedOf(this.#quotas, entry).object) as ResourceQuota, pending: pending !== undefined };
  }

  async #take(request: AdmissionRequest, found: Found, delta: Usage): Promise<void> {
    const { entry, quota } = found;
    const hard = parseUsage(quota.spec.hard);
    const used = await this.#usedOf(found, { hard, delta });
    const over = exceededBy(delta, used, hard);
    if (over.length > 0 && request.subresource !== 'status') {
      const [requested, inUse, limited] = [delta, used, hard].map((usage) => describeUsage(usage, over));
      throw refused(request, `exceeded quota: ${quota.metadata.name ?? ''}, requested: ${requested}, used: ${inUse}, limited: ${limited}`);
    }
    const status = { hard: formatUsage(hard), used: formatUsage(addUsage(used, delta)) };
    const charged: ResourceQuota = { ...quota, metadata: { ...quota.metadata }, status };
    request.draft.expect(entry.key, entry.modRevision);
    request.draft.put(entry.key, encode(this.#quotas, charged));
  }

  /** What the quota says is used, unless it does not know yet, or what it knows is too old to refuse anything for. */
  async #usedOf({ quota, pending }: Found, { hard, delta }: { readonly hard: Usage; readonly delta: Usage }): Promise<Usage> {
    const known = parseUsage(quota.status.used);
    const complete = [...hard.keys()].every((name) => known.has(name));
    if (complete && (pending || exceededBy(delta, known, hard).length === 0)) return known;
    return measure(quota, { evaluators: this.evaluators, reader: this.#reader, now: this.#clock.now() });
  }
}

/** The names that a request would use more of than allowed; those that it does not use are not its fault. */
function exceededBy(delta: Usage, used: Usage, hard: Usage): string[] {
  const after = restrict(addUsage(used, delta), (name) => delta.has(name));
  return exceeded(after, hard);
}

/** What a request takes from a quota. @throws ApiError 403 if it does not say enough to tell */
function demand(request: AdmissionRequest, evaluator: Evaluator, { quota, now }: { readonly quota: ResourceQuota; readonly now: number }): Usage {
  const { object, old } = request;
  const names = Object.keys(quota.spec.hard ?? {}).filter((name) => evaluator.covers(name));
  if (names.length === 0 || !countsAgainst(quota, evaluator, object)) return new Map();
  const missing = evaluator.missing?.(names, object);
  if (missing !== undefined) throw refused(request, `failed quota: ${quota.metadata.name ?? ''}: ${missing}`);
  const usage = evaluator.usage(object, now);
  const negative = negativeNames(usage);
  if (negative.length > 0) throw refused(request, `quota usage is negative for resource(s): ${negative.join(',')}`);
  const before: Usage = old !== undefined && countsAgainst(quota, evaluator, old) ? evaluator.usage(old, now) : new Map();
  return restrict(growth(usage, before), (name) => names.includes(name));
}
