/** Everything that is stuck, the worst first. */
import { explainAttachment } from './attachments/attachment.ts';
import { explainDriver } from './cluster/csi-driver.ts';
import { explainNamespace } from './cluster/namespace.ts';
import { explainNode } from './cluster/node.ts';
import { explainClass } from './cluster/storage-class.ts';
import type { ObjectExplanation, Overview } from './explanation/explanation.ts';
import type { TargetKind } from './explanation/target.ts';
import { rfc3339, timeOf } from './explanation/timestamps.ts';
import type { ClusterObjects } from './graph/cluster-objects.ts';
import { ObjectGraph } from './graph/object-graph.ts';
import { explainPod } from './pods/pod.ts';
import { explainQuota } from './quotas/quota.ts';
import { explainClaim } from './volumes/claim.ts';
import { explainVolume } from './volumes/volume.ts';
import { explainDeployment } from './workloads/deployment.ts';
import { explainJob } from './workloads/job.ts';
import { explainStatefulSet } from './workloads/stateful-set.ts';

/** `now`: milliseconds since 1970. */
export function overviewOf(objects: ClusterObjects, now: number): Overview {
  const explained = explainAll(new ObjectGraph(objects, now));
  const stuck = explained.filter(({ verdict }) => verdict === 'stuck').toSorted(worstFirst);
  const waiting = explained.filter(({ verdict }) => verdict === 'waiting').toSorted(worstFirst);
  return { asOf: rfc3339(now), stuck, waiting, unseen: objects.unseen };
}

function explainAll(graph: ObjectGraph): readonly ObjectExplanation[] {
  return [
    ...graph.nodes.map((node) => explainNode(node, graph)),
    ...graph.namespaces.map((namespace) => explainNamespace(namespace, graph)),
    ...graph.deployments.map((deployment) => explainDeployment(deployment, graph)),
    ...graph.sets.map((set) => explainStatefulSet(set, graph)),
    ...graph.jobs.map((job) => explainJob(job, graph)),
    ...graph.pods.map((pod) => explainPod(pod, graph)),
    ...graph.claims.map((claim) => explainClaim(claim, graph)),
    ...graph.volumes.map((volume) => explainVolume(volume, graph)),
    ...graph.attachments.map((attachment) => explainAttachment(attachment, graph)),
    ...graph.classes.map((storageClass) => explainClass(storageClass, graph)).filter(({ code }) => code !== 'ClaimsStuck'),
    ...graph.drivers.flatMap(({ metadata }) => explainDriver(metadata.name, graph) ?? []),
    ...graph.quotas.map(explainQuota),
  ];
}

/** A node takes all its pods along; a workload without a ready pod is down; a kept volume harms nothing. */
function severityOf({ about, code, state }: ObjectExplanation): number {
  if (about.kind === 'node') return 0;
  if (state === 'Lost' || code === 'NoPodReady') return 1;
  if (code === 'Retained') return order.length + 2;
  return order.indexOf(about.kind) + 2;
}

const order: readonly TargetKind[] = ['deploy', 'sts', 'job', 'pod', 'pvc', 'va', 'ns', 'driver', 'sc', 'quota', 'pv'];

/** Of equal severity, what has lasted longest comes first. */
function worstFirst(a: ObjectExplanation, b: ObjectExplanation): number {
  const age = (each: ObjectExplanation) => timeOf(each.since) ?? Infinity;
  const [one, other] = [age(a), age(b)];
  return severityOf(a) - severityOf(b) || (one === other ? 0 : one - other) || (nameOf(a) < nameOf(b) ? -1 : 1);
}

const nameOf = ({ about: { namespace = '', name } }: ObjectExplanation): string => `${namespace}/${name}`;
