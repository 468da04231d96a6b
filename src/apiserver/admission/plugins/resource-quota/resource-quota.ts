import type { ResourceQuota } from '../../../../api/generated/types.ts';
import type { Evaluator } from '../../../../api/quota/evaluator.ts';
import { isMeasuredAnyway } from '../../../../api/quota/evaluators.ts';
import { meterOf, readAll, selects, usedOf } from '../../../../api/quota/meter.ts';
import {
  addUsage,
  describeUsage,
  exceeded,
  formatUsage,
  growth,
  negativeNames,
  nothingUsed,
  parseUsage,
  restrict,
  type Usage,
} from '../../../../api/quota/usage.ts';
import type { Stored } from '../../../../api/stored.ts';
import type { Entry, Store } from '../../../../store/contract.ts';
import type { Clock, World } from '../../../../world/world.ts';
import type { Resource, Resources } from '../../../objects/resources.ts';
import { encode, revisionOf } from '../../../objects/object-revision.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../chain.ts';
import { ClusterReader } from '../../../objects/cluster-reader.ts';
import { admissionForbidden } from '../../forbidden.ts';
import { canUseMore, evaluatorsOf, usesMore } from './chargeable.ts';

/**
 * The transaction that creates an object also adds its usage to the `status.used` of the ResourceQuota,
 * so two racing requests cannot both get the last of a resource. Usage is not decremented here: the resource quota controller
 * (`src/controllers/cluster/resource-quota`) recalculates it after deletions. Until then a request that seems to exceed the quota
 * makes this plugin recalculate it before the refusal.
 */
export function resourceQuota(resources: Resources, deps: { readonly store: Store; readonly world: World }): AdmissionPlugin {
  const quotas = new QuotaAdmission(resources, deps);
  return {
    name: 'ResourceQuota',
    handles: (operation, resource, subresource) => quotas.evaluators.has(resource) && canUseMore(resource, operation, subresource),
    validate: (request) => quotas.reserve(request),
  };
}

interface StoredQuota {
  readonly entry: Entry;
  readonly quota: Stored<ResourceQuota>;
  /** An earlier object of the same draft has charged it: the stored status is not complete. */
  readonly pending: boolean;
}

class QuotaAdmission {
  readonly #resources: Resources;
  #cachedEvaluators: { readonly generation: number; readonly evaluators: ReadonlyMap<Resource, Evaluator> } | undefined;
  readonly #quotas: Resource;
  readonly #reader: ClusterReader;
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(resources: Resources, { store, world }: { readonly store: Store; readonly world: World }) {
    this.#resources = resources;
    this.#quotas = resources.require('v1', 'resourcequotas');
    this.#reader = new ClusterReader(store);
    this.#store = store;
    this.#clock = world.clock;
  }

  /** The evaluators of the served resources, until these change. */
  get evaluators(): ReadonlyMap<Resource, Evaluator> {
    const { generation } = this.#resources;
    if (this.#cachedEvaluators?.generation !== generation) this.#cachedEvaluators = { generation, evaluators: evaluatorsOf(this.#resources) };
    return this.#cachedEvaluators.evaluators;
  }

  /** Charges all quotas that match the request. @throws ApiError 403 */
  async reserve(request: AdmissionRequest): Promise<void> {
    const evaluator = this.evaluators.get(request.resource);
    const now = this.#clock.now();
    if (evaluator === undefined) return;
    const entries = await this.#reader.entries(this.#quotas, request.namespace);
    // Most namespaces have no quota, and that check is cheaper than the usage of the request.
    if (entries.length === 0 || !usesMore(request, evaluator, now)) return;
    // Missing requests or limits are refused before any exceeded quota is reported.
    const concerned = entries.filter((entry) => demand(request, evaluator, { quota: this.#quotaIn(entry), now }).size > 0);
    for (const { key } of concerned) {
      await request.draft.hold(key);
      const found = await this.#latest(request, key);
      if (found === undefined) continue;
      const delta = demand(request, evaluator, { quota: found.quota, now });
      if (delta.size > 0) await this.#take(request, found, delta);
    }
  }

  #quotaIn(entry: Entry): Stored<ResourceQuota> {
    return revisionOf(this.#quotas, entry).object as Stored<ResourceQuota>;
  }

  async #latest({ draft }: AdmissionRequest, key: string): Promise<StoredQuota | undefined> {
    const entry = await this.#store.get(key);
    if (entry === undefined) return undefined;
    const pending = draft.pending(key);
    return { entry, quota: (pending as Stored<ResourceQuota> | undefined) ?? this.#quotaIn(entry), pending: pending !== undefined };
  }

  async #take(request: AdmissionRequest, found: StoredQuota, delta: Usage): Promise<void> {
    const { entry, quota } = found;
    const hard = parseUsage(quota.spec.hard);
    const used = await this.#usedOf(found, { hard, delta });
    const over = exceededBy(delta, used, hard);
    if (over.length > 0 && request.subresource !== 'status') {
      const [requested, inUse, limited] = [delta, used, hard].map((usage) => describeUsage(usage, over));
      throw admissionForbidden(request, `exceeded quota: ${quota.metadata.name}, requested: ${requested}, used: ${inUse}, limited: ${limited}`);
    }
    const status = { hard: formatUsage(hard), used: formatUsage(addUsage(used, delta)) };
    const charged: ResourceQuota = { ...quota, metadata: { ...quota.metadata }, status };
    request.draft.expect(entry.key, entry.modRevision);
    request.draft.put(entry.key, encode(this.#quotas, charged));
  }

  /** `status.used`, unless it is incomplete, or the request exceeds it and it may be stale. */
  async #usedOf({ quota, pending }: StoredQuota, { hard, delta }: { readonly hard: Usage; readonly delta: Usage }): Promise<Usage> {
    const known = parseUsage(quota.status.used);
    const complete = [...hard.keys()].every((name) => known.has(name) || !this.#isMeasured(name));
    if (complete && (pending || exceededBy(delta, known, hard).length === 0)) return known;
    return this.#measure(quota);
  }

  #isMeasured(name: string): boolean {
    return isMeasuredAnyway(name) || [...this.evaluators.values()].some((evaluator) => evaluator.covers(name));
  }

  /** The usage of a namespace, calculated from its objects. */
  async #measure(quota: ResourceQuota): Promise<Usage> {
    let measured: Usage = nothingUsed;
    const counted = new Set<string>();
    for (const [resource, evaluator] of this.evaluators) {
      const meter = meterOf(quota, evaluator);
      // Several versions of a resource are the same objects.
      if (meter === undefined || counted.has(resource.prefix)) continue;
      counted.add(resource.prefix);
      const objects = await this.#reader.list(resource, quota.metadata.namespace ?? '');
      measured = addUsage(measured, readAll(meter, objects, this.#clock.now()));
    }
    return usedOf(quota, measured);
  }
}

/** The resource names that the request exceeds; names that it does not use do not count. */
function exceededBy(delta: Usage, used: Usage, hard: Usage): string[] {
  const after = restrict(addUsage(used, delta), (name) => delta.has(name));
  return exceeded(after, hard);
}

/** The usage that a request adds to a quota. @throws ApiError 403 if the object lacks requests or limits that the quota demands */
function demand(request: AdmissionRequest, evaluator: Evaluator, { quota, now }: { readonly quota: Stored<ResourceQuota>; readonly now: number }): Usage {
  const { object, old } = request;
  const meter = meterOf(quota, evaluator);
  if (meter === undefined || !selects(meter, object)) return nothingUsed;
  const missing = evaluator.missing?.([...meter.names], object);
  if (missing !== undefined) throw admissionForbidden(request, `failed quota: ${quota.metadata.name}: ${missing}`);
  const usage = evaluator.usage(object, now);
  const negative = negativeNames(usage);
  if (negative.length > 0) throw admissionForbidden(request, `quota usage is negative for resource(s): ${negative.join(',')}`);
  const before = old !== undefined && selects(meter, old) ? evaluator.usage(old, now) : nothingUsed;
  return restrict(growth(usage, before), (name) => meter.names.has(name));
}
