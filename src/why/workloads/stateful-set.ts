import type { PersistentVolumeClaim, StatefulSet } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import type { Diagnosis, ObjectExplanation } from '../explanation/explanation.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { claimRefusals, podOf, podRefusals, quotaExceeded } from '../quotas/quota-refusals.ts';
import { explainWorkload } from './workload.ts';

export function explainStatefulSet(set: Stored<StatefulSet>, graph: ObjectGraph): ObjectExplanation {
  const { namespace = '', name } = set.metadata;
  const pods = graph.podsOwnedBy(set.metadata.uid).toSorted((a, b) => ordinalOf(a.metadata.name) - ordinalOf(b.metadata.name));
  const about = { kind: 'sts' as const, namespace, name };
  const wanted = set.spec.replicas ?? 1;
  return explainWorkload(
    { about, object: set, wanted, ready: set.status.readyReplicas ?? 0, pods, refusal: refusalOf(set, graph), controller: 'the StatefulSet controller' },
    graph,
  );
}

const ordinalOf = (podName: string): number => Number(podName.slice(podName.lastIndexOf('-') + 1));

/** The first pod that is missing, and its claims, which are created first. */
function refusalOf(set: Stored<StatefulSet>, graph: ObjectGraph): Diagnosis | undefined {
  const { namespace = '', name, uid } = set.metadata;
  const existing = new Set(graph.podsOwnedBy(uid).map(({ metadata }) => metadata.name));
  const start = set.spec.ordinals?.start ?? 0;
  const missing = Array.from({ length: set.spec.replicas ?? 1 }, (_, i) => `${name}-${start + i}`).find((each) => !existing.has(each));
  if (missing === undefined) return undefined;
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const claimName = `${template.metadata.name ?? ''}-${missing}`;
    if (graph.claim(claimKey(namespace, claimName)) !== undefined) continue;
    const claim: PersistentVolumeClaim = { ...template, metadata: { ...template.metadata, namespace, name: claimName } };
    const refusals = claimRefusals(claim, graph);
    if (refusals.length > 0) return quotaExceeded(`pvc/${claimName}, which pod/${missing} needs,`, refusals, namespace);
  }
  const refusals = podRefusals(podOf(namespace, set.spec.template), graph);
  return refusals.length === 0 ? undefined : quotaExceeded(`pod/${missing}`, refusals, namespace);
}
