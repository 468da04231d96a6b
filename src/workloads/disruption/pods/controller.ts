import { podKind } from '../../../api/kinds/workloads/pod.ts';
import { keyOf } from '../../../machinery/cache.ts';
import type { Client } from '../../../machinery/client.ts';
import type { Informers } from '../../../machinery/informers.ts';
import { type Bell, type Controller, outcomeOf, source } from '../../../machinery/loop.ts';
import type { Tellings } from '../../../machinery/tellings.ts';
import { conditionOf } from '../../pods/conditions.ts';
import type { Selections } from '../../pods/selections.ts';
import type { PodAction } from './actions.ts';
import { decidePod, type PodSnapshot } from './decide.ts';

export interface DisruptedPodOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly tellings: Tellings;
  /** Rings for pods that several budgets select. */
  readonly contested: Bell<string>;
  /** By budget. */
  readonly selections: Selections;
}

/** Keys are those of pods: 'namespace/name'. */
export function disruptedPods({ client, informers, tellings, contested, selections }: DisruptedPodOptions): Controller<string, PodSnapshot, PodAction> {
  const pods = informers.cache(podKind);
  return {
    name: 'disrupted-pods',
    sources: [
      contested,
      source(podKind, ({ after }) => (after !== undefined && conditionOf(after, 'DisruptionTarget')?.status === 'True' ? [keyOf(after.metadata)] : [])),
    ],
    snapshot(key) {
      const pod = pods.getKey(key);
      if (pod === undefined) return undefined;
      const budgets = selections.selecting(pod).map((budget) => budget.slice(budget.indexOf('/') + 1));
      return { pod, budgets: budgets.sort(), isTold: tellings.told(pod.metadata.uid ?? '') !== undefined };
    },
    decide: decidePod,
    async perform(action) {
      if (action.do === 'write-status') {
        const result = await client.updateStatus(podKind, action.pod);
        return !result.ok && result.reason === 'notFound' ? 'done' : outcomeOf(result);
      }
      tellings.tell({ about: action.about, ...action.report }, action.rememberAs);
      return 'done';
    },
    parallelism: 16,
  };
}
