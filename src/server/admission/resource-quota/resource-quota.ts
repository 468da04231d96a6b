import type { ResourceQuota } from '../../../api/generated/types.ts';
import { type Entry, prefixEnd, type Store } from '../../../store/contract.ts';
import type { World } from '../../../world/world.ts';
import { prefixOf, type Resources } from '../../registry/resources.ts';
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
  const quotas = resources.require('v1', 'resourcequotas');
  const evaluators = evaluatorsOf(resources);
  const reader = new ClusterReader(deps.store);
  const measureNow = (quota: ResourceQuota): Promise<Usage> => measure(quota, { evaluators, reader, now: deps.world.clock.now() });

  const reserve = async (request: AdmissionRequest, { entry, quota }: Found, delta: Usage): Promise<void> => {
    const hard = parseUsage(quota.spec.hard);
    const known = parseUsage(quota.status.used);
    const complete = [...hard.keys()].every((name) => known.has(name));
    let used = complete ? known : await measureNow(quota);
    if (
      complete &&
      exceeded(
        restrict(addUsage(used, delta), (name) => delta.has(name)),
        hard,
      ).length > 0
    )
      used = await measureNow(quota);
    const after = addUsage(used, delta);
    const over = exceeded(
      restrict(after, (name) => delta.has(name)),
      hard,
    );
    if (over.length > 0 && request.subresource !== 'status') {
      const name = quota.metadata.name ?? '';
      const [requested, inUse, limited] = [delta, used, hard].map((usage) => describeUsage(usage, over));
      throw refused(request, `exceeded quota: ${name}, requested: ${requested}, used: ${inUse}, limited: ${limited}`);
    }
    request.draft.expect(entry.key, entry.modRevision);
    request.draft.put(
      entry.key,
      encode(quotas, { ...quota, metadata: { ...quota.metadata }, status: { hard: formatUsage(hard), used: formatUsage(after) } } as ResourceQuota),
    );
  };

  return {
    name: 'ResourceQuota',
    handles: (operation, resource, subresource) => evaluators.get(resource)?.handles(operation, subresource) === true,
    validate: async (request) => {
      const evaluator = evaluators.get(request.resource);
      if (evaluator === undefined) return;
      const prefix = prefixOf(quotas, request.namespace);
      const { entries } = await deps.store.range({ from: prefix, to: prefixEnd(prefix) });
      for (const entry of entries) {
        const now = deps.world.clock.now();
        if (demand(request, evaluator, { quota: storedOf(quotas, entry).object as ResourceQuota, now }).size === 0) continue;
        await request.draft.hold(entry.key);
        const found = await latest(request, deps.store, entry.key);
        if (found === undefined) continue;
        const delta = demand(request, evaluator, { quota: found.quota, now });
        if (delta.size > 0) await reserve(request, found, delta);
      }
    },
  };

  /** The quota as this draft would leave it so far, or as it is. */
  async function latest({ draft }: AdmissionRequest, store: Store, key: string): Promise<Found | undefined> {
    const entry = await store.get(key);
    if (entry === undefined) return undefined;
    return { entry, quota: (draft.pending(key) ?? storedOf(quotas, entry).object) as ResourceQuota };
  }
}

interface Found {
  readonly entry: Entry;
  readonly quota: ResourceQuota;
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
