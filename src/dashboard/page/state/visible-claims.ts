import { computed, signal } from '@preact/signals';
import type { ObjectExplanation } from '../../../why/explanation/explanation.ts';
import type { ClaimRow } from '../../model/claim-rows.ts';
import { targetKey } from '../../model/explanations.ts';
import { view } from './cluster.ts';
import { explain, overview } from './explanations.ts';

/** Explanations that were asked for one by one, each with the revision of its claim. */
const single = signal<ReadonlyMap<string, { readonly resourceVersion: string; readonly explanation: ObjectExplanation }>>(new Map());

/** Of the overview, and newer ones of claims that changed since. */
export const explanations = computed<ReadonlyMap<string, ObjectExplanation>>(
  () => new Map([...overview.value, ...[...single.value].map(([key, { explanation }]) => [key, explanation] as const)]),
);

const asking = new Set<string>();
const mostAtOnce = 4;
let overviewOfSingles = overview.peek();

/** A claim that can be seen and is not Bound is explained as soon as it changes: the overview would come seconds later. */
export function wantExplanations(rows: readonly ClaimRow[]): void {
  // The overview is newer than what was asked for before it.
  if (overviewOfSingles !== overview.peek()) {
    overviewOfSingles = overview.peek();
    if (single.peek().size > 0) single.value = new Map();
  }
  for (const { namespace, name, phase } of rows) {
    if (asking.size >= mostAtOnce) return;
    const key = targetKey({ kind: 'pvc', namespace, name });
    const resourceVersion = view.peek().claim(namespace, name)?.metadata.resourceVersion ?? '';
    const known = overview.peek().get(key) ?? single.peek().get(key)?.explanation;
    const isCurrent = known !== undefined && (known.state === phase || known.verdict === 'stuck');
    if (phase === 'Bound' ? known === undefined || known.state === phase : isCurrent) continue;
    if (asking.has(key) || single.peek().get(key)?.resourceVersion === resourceVersion) continue;
    asking.add(key);
    explain({ kind: 'pvc', namespace, name })
      .then((explanation) => {
        single.value = new Map([...single.peek(), [key, { resourceVersion, explanation }]]);
      })
      .catch(() => undefined)
      .finally(() => asking.delete(key));
  }
}
