import type { ResourceQuota } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { eachOnce, type Kind } from '../../../api/kind.ts';
import { resourceQuotaKind } from '../../../api/kinds/core/resource-quota.ts';
import type { Evaluator } from '../../../api/quota/evaluator.ts';
import { evaluatorOf } from '../../../api/quota/evaluators.ts';
import { type Cache, keyOf } from '../../../client/informers/cache.ts';
import type { Client } from '../../../client/client.ts';
import type { DefinedKinds } from '../../../client/controller/defined-kinds.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, type Source, source } from '../../../client/controller/loop.ts';
import { isNewer } from '../../../client/revision.ts';
import type { Clock } from '../../../world/world.ts';
import { type QuotaAction, confirmUsage } from './actions.ts';
import { decideUsage, type QuotaSnapshot } from './decide.ts';
import { UsageIndex } from './usage-index.ts';

export interface QuotaControllerOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly clock: Clock;
  /** The built-in kinds. */
  readonly kinds: readonly Kind[];
  /** The kinds of CustomResourceDefinitions, which come and go. */
  readonly definedKinds: DefinedKinds;
}

/** Corrects `status.used` of quotas when objects are deleted, shrink or stop counting. Keys are 'namespace/name'. */
export function quotaController(options: QuotaControllerOptions): Controller<string, QuotaSnapshot, QuotaAction> {
  const worker = new QuotaWorker(options);
  return defineController({
    name: 'resource-quota',
    sources: [
      source(resourceQuotaKind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      ...worker.countedKinds.map((kind) => source(kind, (change) => worker.usage.changed(kind, change))),
      options.definedKinds.each((kind) => worker.follow(kind)),
    ],
    snapshot: (key) => worker.snapshot(key),
    decide(snapshot, now) {
      const decision = decideUsage(snapshot, now);
      worker.remember(snapshot.quota, decision.disagreeingSince);
      return decision;
    },
    actions: {
      confirmUsage: (action) => worker.confirmUsage(action),
      updateStatus: ({ object }, key) => worker.updateStatus(object, key),
    },
    parallelism: 8,
  });
}

/** What the controller remembers of a quota between two passes. */
interface QuotaMemory {
  /** The controller's own last write of it, and the last earlier revision at which admission may have charged it. */
  readonly own?: { readonly resourceVersion: string; readonly chargedAt: string };
  /** Caches and quota disagree since then, and admission has not charged it after that revision. */
  readonly disagreement?: { readonly since: number; readonly chargedAt: string };
}

class QuotaWorker {
  readonly usage: UsageIndex;
  readonly countedKinds: readonly Kind[];
  readonly #options: QuotaControllerOptions;
  readonly #evaluators: Map<Kind, Evaluator>;
  readonly #quotas: Cache<ResourceQuota>;
  readonly #memories = new Map<string, QuotaMemory>();

  constructor(options: QuotaControllerOptions) {
    const { informers, clock, kinds } = options;
    const evaluators = new Map(
      eachOnce(kinds).flatMap((kind) => {
        const evaluator = evaluatorOf(kind);
        return evaluator === undefined ? [] : [[kind, evaluator]];
      }),
    );
    this.#options = options;
    this.#evaluators = evaluators;
    this.countedKinds = [...evaluators.keys()];
    this.usage = new UsageIndex({ informers, clock, evaluators });
    this.#quotas = informers.cache(resourceQuotaKind);
  }

  /** A kind of a CustomResourceDefinition: its objects count as long as it is served. */
  follow(kind: Kind): Source<string> {
    const evaluator = evaluatorOf(kind);
    return {
      subscribe: (informers, add) => {
        if (evaluator === undefined) return () => undefined;
        const enqueueAll = (): void => {
          for (const { metadata } of this.#quotas.list()) add(keyOf(metadata));
        };
        const evaluators = this.#evaluators.set(kind, evaluator);
        const cancel = source(kind, (change) => this.usage.changed(kind, change)).subscribe(informers, add);
        // The objects of the kind are counted from its cache, so its quotas are measured again once that is filled.
        void informers.synced().then(enqueueAll);
        return () => {
          cancel();
          evaluators.delete(kind);
          enqueueAll();
        };
      },
    };
  }

  snapshot(key: string): QuotaSnapshot | undefined {
    const quota = this.#quotas.getKey(key);
    if (quota === undefined) {
      this.usage.forget(key);
      this.#memories.delete(key);
      return undefined;
    }
    const { meters, tally } = this.usage.usageOf(quota);
    const chargedAt = this.#chargedAt(key, quota);
    const disagreement = this.#memories.get(key)?.disagreement;
    return {
      quota,
      measured: tally.total(),
      current: new Set([...meters].flatMap(([kind, { names }]) => (this.#isPast(kind, chargedAt) ? [...names] : []))),
      disagreeingSince: disagreement?.chargedAt === chargedAt ? disagreement.since : undefined,
      nextEnd: tally.nextEnd,
    };
  }

  remember(quota: Stored<ResourceQuota>, disagreeingSince: number | undefined): void {
    const key = keyOf(quota.metadata);
    const { disagreement: _, ...memory } = this.#memories.get(key) ?? {};
    const chargedAt = this.#chargedAt(key, quota);
    this.#memories.set(key, disagreeingSince === undefined ? memory : { ...memory, disagreement: { since: disagreeingSince, chargedAt } });
  }

  confirmUsage(action: Extract<QuotaAction, { do: 'confirmUsage' }>): Promise<Outcome> {
    const { client, clock } = this.#options;
    return confirmUsage(action, { client, meters: this.usage.usageOf(action.quota).meters, now: clock.now() });
  }

  async updateStatus(quota: Stored<ResourceQuota>, key: string): Promise<Outcome> {
    const chargedAt = this.#chargedAt(key, quota);
    const result = await this.#options.client.updateStatus(resourceQuotaKind, quota);
    // The write compared the revision, so admission has not charged the quota in between.
    if (result.ok) this.#memories.set(key, { ...this.#memories.get(key), own: { resourceVersion: result.value.metadata.resourceVersion, chargedAt } });
    return outcomeOf(result);
  }

  /** The last revision at which admission may have charged this quota. */
  #chargedAt(key: string, { metadata: { resourceVersion } }: Stored<ResourceQuota>): string {
    const own = this.#memories.get(key)?.own;
    return own?.resourceVersion === resourceVersion ? own.chargedAt : resourceVersion;
  }

  /** Whether a cache shows everything up to a revision. Of the newest revision it may show only a part. */
  #isPast(kind: Kind, revision: string): boolean {
    const { position } = this.#options.informers.cache(kind);
    return position !== undefined && isNewer(position, revision);
  }
}
