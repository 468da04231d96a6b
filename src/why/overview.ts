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
import { explainSnapshot } from './volumes/snapshot.ts';
import { explainQuota } from './quotas/quota.ts';
import { explainClaim } from './volumes/claim.ts';
import { explainVolume } from './volumes/volume.ts';
import { explainDeployment } from './workloads/deployment.ts';
import { explainJob } from './workloads/job.ts';
import { explainStatefulSet } from './workloads/stateful-set.ts';

/** `now`: milliseconds since 1970. */
export const overviewOf = (objects: ClusterObjects, now: number): Overview => sortedOverview([...explainEach(objects, now)], objects, now);

export function sortedOverview(explained: readonly ObjectExplanation[], objects: ClusterObjects, now: number): Overview {
  const stuck = explained.filter(({ verdict }) => verdict === 'stuck').toSorted(worstFirst);
  const waiting = explained.filter(({ verdict }) => verdict === 'waiting').toSorted(worstFirst);
  return { asOf: rfc3339(now), stuck, waiting, unseen: objects.unseen };
}

/** One object at a time: a server has other requests to answer in between. */
export function* explainEach(objects: ClusterObjects, now: number): Generator<ObjectExplanation> {
  const graph = new ObjectGraph(objects, now);
  for (const node of graph.nodes) yield explainNode(node, graph);
  for (const namespace of graph.namespaces) yield explainNamespace(namespace, graph);
  for (const deployment of graph.deployments) yield explainDeployment(deployment, graph);
  for (const set of graph.sets) yield explainStatefulSet(set, graph);
  for (const job of graph.jobs) yield explainJob(job, graph);
  for (const pod of graph.pods) yield explainPod(pod, graph);
  for (const claim of graph.claims) yield explainClaim(claim, graph);
  for (const volume of graph.volumes) yield explainVolume(volume, graph);
  for (const attachment of graph.attachments) yield explainAttachment(attachment, graph);
  for (const storageClass of graph.classes) {
    const explained = explainClass(storageClass, graph);
    // Its claims are in the list themselves.
    if (explained.code !== 'ClaimsStuck') yield explained;
  }
  for (const { metadata } of graph.drivers) {
    const explained = explainDriver(metadata.name, graph);
    if (explained !== undefined) yield explained;
  }
  for (const quota of graph.quotas) yield explainQuota(quota);
  for (const snapshot of graph.snapshots) yield explainSnapshot(snapshot, graph);
}

/** A node takes all its pods along; a workload without a ready pod is down; a kept volume harms nothing. */
function severityOf({ about, code, state }: ObjectExplanation): number {
  if (about.kind === 'node') return 0;
  if (state === 'Lost' || code === 'NoPodReady') return 1;
  if (code === 'Retained') return order.length + 2;
  return order.indexOf(about.kind) + 2;
}

const order: readonly TargetKind[] = ['deploy', 'sts', 'job', 'pod', 'pvc', 'va', 'ns', 'driver', 'sc', 'quota', 'vs', 'pv'];

/** Of equal severity, what has lasted longest comes first. */
function worstFirst(a: ObjectExplanation, b: ObjectExplanation): number {
  const age = (each: ObjectExplanation) => timeOf(each.since) ?? Infinity;
  const [one, other] = [age(a), age(b)];
  return severityOf(a) - severityOf(b) || (one === other ? 0 : one - other) || (nameOf(a) < nameOf(b) ? -1 : 1);
}

const nameOf = ({ about: { namespace = '', name } }: ObjectExplanation): string => `${namespace}/${name}`;
