/** Objects that own pods: what keeps the pods from being ready. */
import type { Pod } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { type Diagnosis, explanationOf, nothingToDo, type ObjectExplanation } from '../explanation/explanation.ts';
import type { Target } from '../explanation/target.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { overdue } from '../graph/overdue.ts';
import { explainPod } from '../pods/pod.ts';

export interface Workload {
  readonly about: Target;
  readonly object: Stored<KubeObject>;
  readonly wanted: number;
  readonly ready: number;
  readonly pods: readonly Stored<Pod>[];
  /** Why a pod that is missing is not created. */
  readonly refusal?: Diagnosis | undefined;
  /** Which component creates the pods. */
  readonly controller: string;
}

export function explainWorkload(workload: Workload, graph: ObjectGraph): ObjectExplanation {
  const { about, object, wanted, ready } = workload;
  const state = object.metadata.deletionTimestamp === undefined ? `${ready}/${wanted} ready` : 'Terminating';
  return explanationOf(about, { state, since: object.metadata.deletionTimestamp ?? object.metadata.creationTimestamp }, diagnose(workload, graph));
}

function diagnose({ object, wanted, ready, pods, refusal, controller }: Workload, graph: ObjectGraph): Diagnosis {
  const facts = [{ label: 'pods', text: `${pods.length} of ${wanted}, ${ready} ready` }];
  if (refusal !== undefined && pods.length < wanted) return { ...refusal, facts: [...facts, ...(refusal.facts ?? [])] };
  const explained = pods.map((pod) => explainPod(pod, graph)).filter(({ verdict }) => verdict !== 'fine');
  const parts = [...explained.filter(({ verdict }) => verdict === 'stuck'), ...explained.filter(({ verdict }) => verdict !== 'stuck')];
  const [first] = parts;
  if (first !== undefined) {
    return {
      verdict: first.verdict,
      code: ready === 0 ? 'NoPodReady' : 'PodsNotReady',
      summary: `${ready} of ${wanted} pods ${wanted === 1 ? 'is' : 'are'} ready; pod/${first.about.name} is ${first.state}.`,
      facts,
      parts: distinct(parts).slice(0, mostParts),
      next: first.next,
    };
  }
  if (pods.length < wanted) {
    return {
      verdict: 'waiting',
      code: 'PodsMissing',
      summary: `${wanted - pods.length} of ${wanted} pods are not created yet.`,
      facts,
      ...overdue({ who: controller, does: 'creates them', by: 'at once' }, { since: object.metadata.creationTimestamp, graph }),
    };
  }
  if (ready < wanted)
    return { verdict: 'waiting', code: 'PodsStarting', summary: 'Its pods are about to be ready.', facts, next: { who: 'their nodes', does: 'start them' } };
  return { verdict: 'fine', code: 'Ready', summary: `${wanted === 0 ? 'It wants no pods' : 'All of its pods are ready'}.`, facts, next: nothingToDo };
}

/** Pods of one template mostly wait for the same. */
const distinct = (parts: readonly ObjectExplanation[]): readonly ObjectExplanation[] =>
  [...new Map(parts.toReversed().map((part) => [`${part.code} ${part.summary}`, part])).values()].toReversed();

const mostParts = 3;
