import type { Pod } from '../../api/generated/types.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { nodeClaimKind } from '../../api/kinds/karpenter/node-claim.ts';
import { nodePoolKind } from '../../api/kinds/karpenter/node-pool.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { Stored } from '../../api/stored.ts';
import type { Client } from '../../client/client.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, source } from '../../client/controller/loop.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import type { Change } from '../../client/informers/cache.ts';
import type { Clock } from '../../world/world.ts';
import type { ClusterState } from '../cluster-state.ts';
import { nodeClaimFor } from '../node-claims.ts';
import { isProvisionable } from '../pods.ts';
import type { Launch, ProvisioningAction } from './actions.ts';
import { type BatchPlan, decideProvisioning, nominated, type ProvisioningSnapshot } from './decide.ts';
import { type Placement, plan } from './planner.ts';

export interface ProvisioningOptions {
  readonly state: ClusterState;
  readonly client: Client;
  readonly events: RecordedEvents;
  readonly clock: Clock;
  readonly sha256: (text: string) => string;
}

/** Of the whole cluster: pods are planned together. */
type ProvisioningKey = 'pods';

/** How long a node that pods are planned on is left alone: twice the longest batch. */
const nominationMs = 20_000;

/** Launches nodes for pods that the scheduler finds no node for. */
export function provisioner(options: ProvisioningOptions): Controller<ProvisioningKey, ProvisioningSnapshot, ProvisioningAction> {
  const batches = new Batches(options);
  return defineController<ProvisioningKey, ProvisioningSnapshot, ProvisioningAction>({
    name: 'provisioner',
    sources: [
      source(podKind, (change) => batches.podChanged(change)),
      source(nodePoolKind, () => ['pods']),
      // The pods of a node that goes need another one; a claim that was given up is replaced.
      source(nodeClaimKind, ({ before, after }) =>
        after === undefined || before?.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ? batches.changed() : [],
      ),
      source(nodeKind, ({ before, after }) =>
        after === undefined || before?.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ? batches.changed() : [],
      ),
    ],
    snapshot: () => batches.snapshot(),
    decide: decideProvisioning,
    onDecision: (_, { reasons }) => {
      if (reasons.some(({ code }) => code === 'Planned')) batches.planned();
    },
    events: options.events,
    actions: {
      launch: (action) => batches.launch(action),
      async nominate({ name }) {
        options.state.nominate(name, options.clock.now() + nominationMs);
        return 'done';
      },
    },
  });
}

class Batches {
  readonly #options: ProvisioningOptions;
  #batch: { first: number; last: number } | undefined;

  constructor(options: ProvisioningOptions) {
    this.#options = options;
  }

  /** Only a pod that was not waiting before prolongs the batch. */
  podChanged({ before, after }: Change<Pod>): readonly ProvisioningKey[] {
    const isNew =
      after !== undefined && isProvisionable(after) && (before === undefined || before.metadata.uid !== after.metadata.uid || !isProvisionable(before));
    return isNew ? this.changed() : [];
  }

  changed(): readonly ProvisioningKey[] {
    const now = this.#options.clock.now();
    this.#batch = { first: this.#batch?.first ?? now, last: now };
    return ['pods'];
  }

  planned(): void {
    this.#batch = undefined;
  }

  snapshot(): ProvisioningSnapshot | undefined {
    const { state, events } = this.#options;
    if (!state.isActive) return undefined;
    const isAnyWaiting = state.hasPodsToPlan();
    if (!isAnyWaiting) this.#batch = undefined;
    // Pods that are still there after ten seconds are planned again.
    const batch = isAnyWaiting ? (this.#batch ?? { first: 0, last: 0 }) : undefined;
    return { batch, plan: () => this.#plan(), lastEvent: events.lastEvent };
  }

  #plan(): BatchPlan {
    const { state, sha256 } = this.#options;
    const input = state.plannerInput();
    const { launches, placements } = plan(state.scheduler, input);
    const taken = new Set<string>();
    const isTaken = (name: string) => taken.has(name) || state.claims.getKey(name) !== undefined;
    const claims = launches.map((node) => {
      const claim = nodeClaimFor({ node, isTaken, sha256 });
      taken.add(claim.metadata.name ?? '');
      return { claim, pods: node.pods.map(({ pod }) => pod as Stored<Pod>) };
    });
    const placed = input.pods.flatMap(({ pod, uid }) => ({ pod: pod as Stored<Pod>, placement: placements.get(uid) }));
    return {
      launches: claims,
      nominations: placed.flatMap(({ pod, placement }) => this.#nomination(pod, placement)),
      failures: placed.flatMap(({ pod, placement }) => (placement?.type === 'failed' ? [{ pod, message: placement.message }] : [])),
      withoutTypes: input.pools.filter(({ types }) => types.length === 0).flatMap(({ name }) => state.pools.getKey(name) ?? []),
    };
  }

  /** Nodes that the autoscaler did not launch are not announced: the scheduler binds the pod there by itself. */
  #nomination(pod: Stored<Pod>, placement: Placement | undefined): BatchPlan['nominations'] {
    const { state } = this.#options;
    if (placement?.type === 'planned' && placement.node.claim !== undefined) return [{ pod, claim: placement.node.claim.metadata.name, node: undefined }];
    if (placement?.type !== 'node') return [];
    const node = state.nodes.getKey(placement.name);
    const claim = node === undefined ? undefined : state.claimOf(node);
    return claim === undefined ? [] : [{ pod, claim: claim.metadata.name, node: placement.name }];
  }

  async launch({ object, pods }: Launch): Promise<Outcome> {
    const { client, state, events, clock } = this.#options;
    const made = await client.create(nodeClaimKind, object);
    if (!made.ok) return outcomeOf(made);
    const { name } = made.value.metadata;
    state.nominate(name, clock.now() + nominationMs);
    for (const pod of pods) {
      const event = nominated({ claim: name, node: undefined });
      events.record({ ...event, about: pod }, `${pod.metadata.uid}/${event.reason}`);
    }
    return 'done';
  }
}
