/** What a namespace's pods violate of a level that is about to be enforced: warnings for the request that sets its labels. */
import type { Pod } from '../../../../api/generated/types.ts';
import type { Entry } from '../../../../store/contract.ts';
import type { World } from '../../../../world/world.ts';
import type { ClusterReader } from '../../../objects/cluster-reader.ts';
import { revisionOf } from '../../../objects/object-revision.ts';
import type { Resource } from '../../../objects/resources.ts';
import { evaluatePod, reasonsText } from './evaluator.ts';
import { type LevelVersion, levelVersionText } from './policy.ts';

/** As in v1.36.4. */
const maxPods = 3_000;
const maxMs = 1_000;

/** Pods between two turns of the event loop. */
const podsPerTurn = 100;

export interface NamespacePodsContext {
  readonly reader: ClusterReader;
  readonly pods: Resource;
  readonly world: Pick<World, 'clock' | 'timers'>;
  readonly isExempt: (pod: Pod) => boolean;
}

export async function warnOfPods(context: NamespacePodsContext, namespace: string, enforce: LevelVersion): Promise<readonly string[]> {
  const { clock, timers } = context.world;
  const deadline = clock.monotonic() + maxMs;
  const entries = await context.reader.entries(context.pods, namespace);
  const pace = async (done: number): Promise<boolean> => {
    if (done % podsPerTurn === podsPerTurn - 1) await new Promise<void>((resolve) => timers.soon(resolve));
    return clock.monotonic() < deadline;
  };
  const { prioritized, total } = await prioritize(context, entries, pace);
  const checked = prioritized.slice(0, maxPods);
  const byReasons = new Map<string, { first: string; count: number }>();
  let count = 0;
  for (const pod of checked) {
    countViolations(byReasons, pod, enforce);
    count += 1;
    if (!(await pace(count))) break;
  }
  return [
    ...(count < total ? [`new PodSecurity enforce level only checked against the first ${count} of ${total} existing pods`] : []),
    ...(byReasons.size > 0 ? [`existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${levelVersionText(enforce)}"`] : []),
    ...[...byReasons].map(([reasons, pods]) => `${podsText(pods)}: ${reasons}`).sort(),
  ];
}

/** Pods of one controller are alike: all but its first come last. Exempt ones do not count. Beyond the deadline pods are only counted. */
async function prioritize(
  { pods: resource, isExempt }: NamespacePodsContext,
  entries: readonly Entry[],
  pace: (done: number) => Promise<boolean>,
): Promise<{ readonly prioritized: readonly Pod[]; readonly total: number }> {
  const first: Pod[] = [];
  const others: Pod[] = [];
  const controllers = new Set<string>();
  let total = entries.length;
  for (const [at, entry] of entries.entries()) {
    const pod = revisionOf(resource, entry).object as Pod;
    const controller = pod.metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid;
    if (isExempt(pod)) total -= 1;
    else if (controller === undefined || !controllers.has(controller)) first.push(pod);
    else others.push(pod);
    if (controller !== undefined) controllers.add(controller);
    if (!(await pace(at))) break;
  }
  return { prioritized: [...first, ...others], total };
}

function countViolations(byReasons: Map<string, { first: string; count: number }>, { metadata, spec }: Pod, enforce: LevelVersion): void {
  const violations = evaluatePod(enforce, { metadata, spec });
  if (violations.length === 0) return;
  const { name = '' } = metadata;
  const known = byReasons.get(reasonsText(violations));
  if (known === undefined) byReasons.set(reasonsText(violations), { first: name, count: 1 });
  else {
    known.count += 1;
    if (name < known.first) known.first = name;
  }
}

function podsText({ first, count }: { readonly first: string; readonly count: number }): string {
  if (count === 1) return first;
  return count === 2 ? `${first} (and 1 other pod)` : `${first} (and ${count - 1} other pods)`;
}
