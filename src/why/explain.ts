/**
 * Explains an object from the objects alone, with the controllers' own decisions: the same objects give the same explanation, independent
 * of Events.
 */
import { nearestNames } from '../api/nearest-name.ts';
import type { Stored } from '../api/stored.ts';
import { claimKey } from '../storage/volumes/claim.ts';
import { explainAttachment } from './attachments/attachment.ts';
import { explainClaim } from './volumes/claim.ts';
import { kubectl, moorWhy } from './explanation/commands.ts';
import { type ObjectExplanation, explanationOf, type Explanation, type Fix } from './explanation/explanation.ts';
import type { ClusterObjects } from './graph/cluster-objects.ts';
import { explainPod } from './pods/pod.ts';
import { ObjectGraph } from './graph/object-graph.ts';
import { rfc3339 } from './explanation/timestamps.ts';
import { isNamespaced, kubectlName, type Target, type TargetKind } from './explanation/target.ts';
import { explainDriver } from './cluster/csi-driver.ts';
import { explainNamespace } from './cluster/namespace.ts';
import { explainNode } from './cluster/node.ts';
import { explainClass } from './cluster/storage-class.ts';
import { explainDeployment } from './workloads/deployment.ts';
import { explainJob } from './workloads/job.ts';
import { explainQuota } from './quotas/quota.ts';
import { explainStatefulSet } from './workloads/stateful-set.ts';
import { explainSnapshot } from './volumes/snapshot.ts';
import { explainVolume } from './volumes/volume.ts';
import { listed, someOf } from './explanation/words.ts';

/** `now`: milliseconds since 1970. */
export function explain(target: Target, objects: ClusterObjects, now: number): Explanation {
  const graph = new ObjectGraph(objects, now);
  return { ...(explainTarget(target, graph) ?? absent(target, objects, graph)), asOf: rfc3339(now), unseen: objects.unseen };
}

function explainTarget({ kind, namespace = '', name }: Target, graph: ObjectGraph): ObjectExplanation | undefined {
  switch (kind) {
    case 'pvc': {
      const claim = graph.claim(claimKey(namespace, name));
      return claim === undefined ? undefined : explainClaim(claim, graph);
    }
    case 'pv': {
      const volume = graph.volume(name);
      return volume === undefined ? undefined : explainVolume(volume, graph);
    }
    case 'pod': {
      const pod = graph.pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
      return pod === undefined ? undefined : explainPod(pod, graph);
    }
    case 'va': {
      const attachment = graph.attachments.find(({ metadata }) => metadata.name === name);
      return attachment === undefined ? undefined : explainAttachment(attachment, graph);
    }
    case 'driver':
      return explainDriver(name, graph);
    default:
      return explainFurther({ kind, namespace, name }, graph);
  }
}

/** Workloads and what belongs to the cluster. */
function explainFurther({ kind, namespace, name }: Target, graph: ObjectGraph): ObjectExplanation | undefined {
  const is = ({ metadata }: Stored) => metadata.name === name && (metadata.namespace ?? '') === (isNamespaced(kind) ? namespace : '');
  const found = <T extends Stored>(objects: readonly T[], explainOne: (object: T) => ObjectExplanation) => {
    const object = objects.find(is);
    return object === undefined ? undefined : explainOne(object);
  };
  switch (kind) {
    case 'sts':
      return found(graph.sets, (set) => explainStatefulSet(set, graph));
    case 'deploy':
      return found(graph.deployments, (deployment) => explainDeployment(deployment, graph));
    case 'job':
      return found(graph.jobs, (job) => explainJob(job, graph));
    case 'node':
      return found(graph.nodes, (node) => explainNode(node, graph));
    case 'sc':
      return found(graph.classes, (storageClass) => explainClass(storageClass, graph));
    case 'ns':
      return found(graph.namespaces, (each) => explainNamespace(each, graph));
    case 'quota':
      return found(graph.quotas, explainQuota);
    case 'vs':
      return found(graph.snapshots, (snapshot) => explainSnapshot(snapshot, graph));
    default:
      return undefined;
  }
}

function absent(target: Target, { elsewhere = [] }: ClusterObjects, graph: ObjectGraph): ObjectExplanation {
  const { kind, namespace, name } = target;
  const where = isNamespaced(kind) ? ` in namespace ${namespace ?? ''}` : '';
  const near = nearestNames(name, namesOf(target, graph));
  const hint =
    elsewhere.length > 0
      ? ` There is one in ${listed(elsewhere.map((each) => `namespace ${each}`))}.`
      : near.length > 0
        ? ` Is ${listed(
            near.map((each) => `${kind}/${each}`),
            'or',
          )} meant?`
        : '';
  const fixes: readonly Fix[] = [
    ...elsewhere.slice(0, 3).map((each) => ({ text: `explain the one in namespace ${each}`, commands: [moorWhy(each, `${kind}/${name}`)] })),
    ...(elsewhere.length > 0 ? [] : near.map((each) => ({ text: `explain ${kind}/${each}`, commands: [moorWhy(namespace, `${kind}/${each}`)] }))),
  ];
  return explanationOf(
    target,
    { state: 'NotFound', since: undefined },
    {
      verdict: 'absent',
      code: 'NotFound',
      summary: `There is no ${kind}/${name}${where}.${hint}`,
      fixes: fixes.length > 0 ? fixes : [{ text: 'list what there is', commands: [kubectl(namespace, 'get', kubectlName(kind))] }],
      next: {
        who: 'you',
        does: elsewhere.length > 0 ? 'name the namespace' : near.length > 0 ? `check the name: ${someOf(near)}` : 'check the name',
      },
    },
  );
}

/** The names of all objects of the kind, in the namespace if it has one. */
function namesOf({ kind, namespace }: Target, graph: ObjectGraph): readonly string[] {
  const lists: Readonly<Record<TargetKind, readonly { readonly metadata: { readonly name: string; readonly namespace?: string } }[]>> = {
    pvc: graph.claims.map(({ name, namespace: of }) => ({ metadata: { name, namespace: of } })),
    pv: graph.volumes.map(({ name }) => ({ metadata: { name } })),
    pod: graph.pods,
    va: graph.attachments,
    sts: graph.sets,
    deploy: graph.deployments,
    job: graph.jobs,
    node: graph.nodes,
    sc: graph.classes,
    driver: graph.drivers,
    ns: graph.namespaces,
    quota: graph.quotas,
    vs: graph.snapshots,
  };
  return lists[kind].filter(({ metadata }) => !isNamespaced(kind) || metadata.namespace === namespace).map(({ metadata }) => metadata.name);
}
