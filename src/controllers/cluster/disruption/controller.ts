import type { Deployment, Pod, PodDisruptionBudget, ReplicaSet, StatefulSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { type Kind, untypedKind } from '../../../api/kind.ts';
import { podDisruptionBudgetKind } from '../../../api/kinds/policy/pod-disruption-budget.ts';
import { deploymentKind } from '../../../api/kinds/apps/deployment.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { replicaSetKind } from '../../../api/kinds/apps/replica-set.ts';
import { statefulSetKind } from '../../../api/kinds/apps/stateful-set.ts';
import type { KubeObject } from '../../../api/object.ts';
import { labelSelectorOf, matchesLabels } from '../../../api/selectors/label-selector.ts';
import { type Change, keyOf } from '../../../client/informers/cache.ts';
import type { Client } from '../../../client/client.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, source, Trigger } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import { RecordedEvents } from '../../../client/events/event-dedup.ts';
import type { Clock } from '../../../world/world.ts';
import { PodSelectorIndex } from '../../pods/pod-selector-index.ts';
import { isPodReady } from '../../pods/state.ts';
import type { BudgetAction } from './actions.ts';
import { decideBudget, type BudgetSnapshot } from './decide.ts';
import { disruptedPods } from './pods/controller.ts';
import type { DisruptedPodAction } from './pods/actions.ts';
import type { DisruptedPodSnapshot } from './pods/decide.ts';
import { Scales } from './scales.ts';

export interface DisruptionOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
  /** All kinds that are served. */
  readonly kinds: readonly Kind[];
}

/** Writes the status of PodDisruptionBudgets, and clears stale DisruptionTarget conditions of pods. */
export function disruption(options: DisruptionOptions): {
  readonly budgets: Controller<string, BudgetSnapshot, BudgetAction>;
  readonly pods: Controller<string, DisruptedPodSnapshot, DisruptedPodAction>;
} {
  const { client, informers, clock, recorder } = options;
  const budgets = informers.cache(podDisruptionBudgetKind);
  const podIndex = new PodSelectorIndex(informers.cache(podKind));
  const scales = new Scales(informers, options.kinds);
  const recordedEvents = new RecordedEvents(recorder, clock);
  const recorded = (key: string): string | undefined => {
    const last = recordedEvents.lastEvent(key);
    return last === undefined || last.at + repeatAfterMs <= clock.now() ? undefined : last.message;
  };
  /** Enqueues pods that several budgets select. */
  const contested = new Trigger<string>();
  const inNamespace = (change: Change<Scalable>) =>
    isRescaled(change) ? budgets.inNamespace((change.after ?? change.before)?.metadata.namespace ?? '').map(({ metadata }) => keyOf(metadata)) : [];

  const controller = defineController<string, BudgetSnapshot, BudgetAction>({
    name: 'disruption-budgets',
    sources: [
      source(podDisruptionBudgetKind, ({ before, after }) => {
        const key = keyOf((after ?? before)?.metadata ?? {});
        if (!isSame(before?.spec.selector, after?.spec.selector)) podIndex.select(key, selectorOf(after));
        return after === undefined ? [] : [key];
      }),
      source(podKind, (change) => {
        const concerned = podIndex.change(change);
        if (concerned.length === 0 || !mayChangeCounts(change)) return [];
        if (concerned.length > 1) contested.fire(keyOf((change.after ?? change.before)?.metadata ?? {}));
        return concerned;
      }),
      source(deploymentKind, inNamespace),
      source(replicaSetKind, inNamespace),
      source(statefulSetKind, inNamespace),
    ],
    snapshot(key) {
      const budget = budgets.getKey(key);
      if (budget === undefined) return undefined;
      const namespace = budget.metadata.namespace ?? '';
      return { budget, pods: podIndex.members(key).toSorted(byName), scaleOf: (owner) => scales.of(owner, namespace), recorded };
    },
    decide: decideBudget,
    writer: new ObjectWriter(client, [untypedKind(podDisruptionBudgetKind)]),
    events: recordedEvents,
    actions: {},
    parallelism: 16,
  });
  return { budgets: controller, pods: disruptedPods({ client, informers, recordedEvents, contested, podIndex }) };
}

/** Events live for an hour; a standing one is recorded again before it expires. */
const repeatAfterMs = 30 * 60_000;

type Scalable = Deployment | ReplicaSet | StatefulSet;

const isRescaled = ({ before, after }: Change<Scalable & KubeObject>): boolean =>
  before?.metadata.uid !== after?.metadata.uid || before?.spec.replicas !== after?.spec.replicas;

/** Whether a budget may count the pod differently now. */
function mayChangeCounts({ before, after }: Change<Pod>): boolean {
  if (before === undefined || after === undefined || before.metadata.uid !== after.metadata.uid) return true;
  return (
    isPodReady(before) !== isPodReady(after) ||
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    !isSame(before.metadata.labels, after.metadata.labels) ||
    !isSame(before.metadata.ownerReferences, after.metadata.ownerReferences)
  );
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Undefined: it selects nothing. An empty selector selects all pods of the namespace. */
function selectorOf(budget: Stored<PodDisruptionBudget> | undefined): ((labels: Pod['metadata']['labels']) => boolean) | undefined {
  if (budget?.spec.selector === undefined) return undefined;
  try {
    const selector = labelSelectorOf(budget.spec.selector);
    return (labels) => matchesLabels(selector, labels);
  } catch {
    // Validation refuses such a selector.
    return undefined;
  }
}

const byName = (a: Stored<Pod>, b: Stored<Pod>): number => (a.metadata.name < b.metadata.name ? -1 : 1);
