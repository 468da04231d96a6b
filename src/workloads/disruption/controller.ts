import type { Deployment, Pod, PodDisruptionBudget, ReplicaSet, StatefulSet } from '../../api/generated/types.ts';
import type { Kind } from '../../api/kind.ts';
import { podDisruptionBudgetKind } from '../../api/kinds/pod-disruption-budget.ts';
import { deploymentKind } from '../../api/kinds/workloads/deployment.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { replicaSetKind } from '../../api/kinds/workloads/replica-set.ts';
import { statefulSetKind } from '../../api/kinds/workloads/stateful-set.ts';
import type { KubeObject } from '../../api/object.ts';
import { labelSelectorOf, matchesLabels } from '../../domain/label-selector.ts';
import { type Change, keyOf } from '../../machinery/cache.ts';
import type { Client } from '../../machinery/client.ts';
import type { Informers } from '../../machinery/informers.ts';
import { Bell, type Controller, outcomeOf, source } from '../../machinery/loop.ts';
import type { Recorder } from '../../machinery/recorder.ts';
import { Tellings } from '../../machinery/tellings.ts';
import type { Clock } from '../../world/world.ts';
import { Selections } from '../pods/selections.ts';
import { isPodReady } from '../pods/state.ts';
import type { Action } from './actions.ts';
import { decideBudget, type Snapshot } from './decide.ts';
import { disruptedPods } from './pods/controller.ts';
import type { PodAction } from './pods/actions.ts';
import type { PodSnapshot } from './pods/decide.ts';
import { Scales } from './scales.ts';

export interface DisruptionOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: Pick<Recorder, 'record'>;
  readonly clock: Clock;
  /** All that are served. */
  readonly kinds: readonly Kind[];
}

/** Keeps the statuses of budgets, which the server spends from, and puts right pods that were to be disturbed and were not. */
export function disruption(options: DisruptionOptions): {
  readonly budgets: Controller<string, Snapshot, Action>;
  readonly pods: Controller<string, PodSnapshot, PodAction>;
} {
  const { client, informers, clock, recorder } = options;
  const budgets = informers.cache(podDisruptionBudgetKind);
  const selections = new Selections(informers.cache(podKind));
  const scales = new Scales(informers, options.kinds);
  const tellings = new Tellings(recorder, clock);
  const told = (key: string): string | undefined => {
    const last = tellings.told(key);
    return last === undefined || last.at + repeatAfterMs <= clock.now() ? undefined : last.message;
  };
  /** Rings for pods that several budgets select. */
  const contested = new Bell<string>();
  const inNamespace = (change: Change<Scalable>) =>
    isRescaled(change) ? budgets.inNamespace((change.after ?? change.before)?.metadata.namespace ?? '').map(({ metadata }) => keyOf(metadata)) : [];

  const controller: Controller<string, Snapshot, Action> = {
    name: 'disruption-budgets',
    sources: [
      source(podDisruptionBudgetKind, ({ before, after }) => {
        const key = keyOf((after ?? before)?.metadata ?? {});
        if (!isSame(before?.spec.selector, after?.spec.selector)) selections.select(key, selectorOf(after));
        return after === undefined ? [] : [key];
      }),
      source(podKind, (change) => {
        const concerned = selections.change(change);
        if (concerned.length === 0 || !isCountedAnew(change)) return [];
        if (concerned.length > 1) contested.ring(keyOf((change.after ?? change.before)?.metadata ?? {}));
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
      return { budget, pods: selections.members(key).toSorted(byName), scaleOf: (owner) => scales.of(owner, namespace), told };
    },
    decide: decideBudget,
    async perform(action) {
      if (action.do === 'write-status') return outcomeOf(await client.updateStatus(podDisruptionBudgetKind, action.budget));
      tellings.tell({ about: action.about, ...action.report }, action.rememberAs);
      return 'done';
    },
    parallelism: 16,
  };
  return { budgets: controller, pods: disruptedPods({ client, informers, tellings, contested, selections }) };
}

/** Events live for an hour; what still holds is said again before it is forgotten. */
const repeatAfterMs = 30 * 60_000;

type Scalable = Deployment | ReplicaSet | StatefulSet;

const isRescaled = ({ before, after }: Change<Scalable & KubeObject>): boolean =>
  before?.metadata.uid !== after?.metadata.uid || before?.spec.replicas !== after?.spec.replicas;

/** Whether a budget could count the pod otherwise than before. */
function isCountedAnew({ before, after }: Change<Pod>): boolean {
  if (before === undefined || after === undefined || before.metadata.uid !== after.metadata.uid) return true;
  return (
    isPodReady(before) !== isPodReady(after) ||
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    !isSame(before.metadata.labels, after.metadata.labels) ||
    !isSame(before.metadata.ownerReferences, after.metadata.ownerReferences)
  );
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Undefined: it selects nothing. One without any requirement selects all pods of its namespace. */
function selectorOf(budget: PodDisruptionBudget | undefined): ((labels: Pod['metadata']['labels']) => boolean) | undefined {
  if (budget?.spec.selector === undefined) return undefined;
  try {
    const selector = labelSelectorOf(budget.spec.selector);
    return (labels) => matchesLabels(selector, labels);
  } catch {
    // The server lets nobody write such a selector.
    return undefined;
  }
}

const byName = (a: Pod, b: Pod): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
