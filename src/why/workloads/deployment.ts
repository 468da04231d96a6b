import type { Deployment } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { Diagnosis, ObjectExplanation } from '../explanation/explanation.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { podOf, podRefusals, quotaExceeded } from '../quotas/quota-refusals.ts';
import { explainWorkload } from './workload.ts';

export function explainDeployment(deployment: Stored<Deployment>, graph: ObjectGraph): ObjectExplanation {
  const { namespace = '', name, uid } = deployment.metadata;
  const sets = graph.replicaSets.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid));
  const pods = sets.flatMap(({ metadata }) => graph.podsOwnedBy(metadata.uid));
  return explainWorkload(
    {
      about: { kind: 'deploy', namespace, name },
      object: deployment,
      wanted: deployment.spec.replicas ?? 1,
      ready: deployment.status.readyReplicas ?? 0,
      pods,
      refusal: refusalOf(deployment, graph),
      controller: 'the Deployment controller',
    },
    graph,
  );
}

/** A quota, or what the ReplicaSet controller wrote into the status: a webhook's refusal. */
function refusalOf({ metadata: { namespace = '', name }, spec, status }: Stored<Deployment>, graph: ObjectGraph): Diagnosis | undefined {
  const refusals = podRefusals(podOf(namespace, spec.template), graph);
  if (refusals.length > 0) return quotaExceeded(`A pod of deploy/${name}`, refusals, namespace);
  const failure = status.conditions?.find((condition) => condition.type === 'ReplicaFailure' && condition.status === 'True');
  if (failure === undefined) return undefined;
  return {
    verdict: 'stuck',
    code: 'PodsRefused',
    summary: `The server refuses its pods: ${failure.message ?? failure.reason ?? ''}.`,
    fixes: [{ text: 'correct what the server names; the controller tries again by itself', commands: [] }],
    next: { who: 'you', does: 'change that' },
  };
}
