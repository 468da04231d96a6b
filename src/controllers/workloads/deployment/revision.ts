/** The ReplicaSet of a Deployment's current template: its name, contents and revision. */
import type { Deployment, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { deploymentKind } from '../../../api/kinds/apps/deployment.ts';
import { shortHash } from '../../pods/hash.ts';
import { controllerOf } from '../../pods/ownership.ts';
import { sameEntries } from '../../pods/selector.ts';
import { controllerReference } from '../../pods/template.ts';
import { type DeploymentDecision, decided } from './actions.ts';
import { annotationsOfCurrent, annotationsOfNew, nextRevision, revisionAnnotation } from './annotations.ts';
import { conditionOf, progressing, withCondition } from './conditions.ts';
import { type ReplicaSets, isSameTemplate, templateHashLabel } from './replica-sets.ts';
import { sizeOfNew, scaledEvent } from './scaling.ts';
import { hasDeadline } from './status.ts';

/** Copies annotations, revision and minReadySeconds between the Deployment and its current ReplicaSet. Undefined: nothing to copy. */
export function syncRevision(deployment: Stored<Deployment>, { current, old }: ReplicaSets, now: number): DeploymentDecision | undefined {
  if (current === undefined) return undefined;
  const annotations = annotationsOfCurrent(deployment, current, nextRevision(old));
  const { minReadySeconds = 0 } = deployment.spec;
  if (!sameEntries(annotations, current.metadata.annotations) || (current.spec.minReadySeconds ?? 0) !== minReadySeconds) {
    const object: Stored<ReplicaSet> = { ...current, metadata: { ...current.metadata, annotations }, spec: { ...current.spec, minReadySeconds } };
    return decided('RevisionMoves', 'the present replica set gets its revision and annotations', [{ do: 'update', object, from: current }]);
  }
  const revised = withRevision(deployment, annotations[revisionAnnotation] ?? '');
  const isNoted = !hasDeadline(deployment) || conditionOf(deployment.status, 'Progressing') !== undefined;
  if (revised === deployment && isNoted) return undefined;
  const found = progressing('True', 'FoundNewReplicaSet', `Found new replica set "${current.metadata.name}"`, now);
  const object = isNoted ? revised : { ...revised, status: withCondition(deployment.status, found) };
  return decided('RevisionNoted', 'the deployment notes the revision of its present replica set', [{ do: 'updateStatus', object, from: deployment }]);
}

function withRevision(deployment: Stored<Deployment>, revision: string): Stored<Deployment> {
  if (deployment.metadata.annotations?.[revisionAnnotation] === revision) return deployment;
  return { ...deployment, metadata: { ...deployment.metadata, annotations: { ...deployment.metadata.annotations, [revisionAnnotation]: revision } } };
}

export interface Creation {
  readonly deployment: Stored<Deployment>;
  readonly replicaSets: ReplicaSets;
  /** Any ReplicaSet of this name in the Deployment's namespace. */
  readonly named: (name: string) => Stored<ReplicaSet> | undefined;
  readonly now: number;
}

export function createCurrent({ deployment, replicaSets, named, now }: Creation): DeploymentDecision {
  const revision = nextRevision(replicaSets.old);
  const set = setFor(deployment, { replicaSets, revision });
  const name = set.metadata.name ?? '';
  const namesake = named(name);
  if (namesake !== undefined && !isOurs(namesake, deployment)) return collide(deployment, name);
  const size = set.spec.replicas ?? 0;
  const created = progressing('True', 'NewReplicaSetCreated', `Created new replica set "${name}"`, now);
  const revised = withRevision(deployment, String(revision));
  const object = hasDeadline(deployment) ? { ...revised, status: withCondition(deployment.status, created) } : revised;
  return decided('NewTemplate', 'there is no replica set of its template yet', [
    { do: 'createSet', deployment, set },
    ...(size > 0 ? [scaledEvent(deployment, name, { from: 0, to: size })] : []),
    ...(object === deployment ? [] : [{ do: 'updateStatus', object, from: deployment } as const]),
  ]);
}

const isOurs = (set: Stored<ReplicaSet>, { metadata, spec }: Stored<Deployment>): boolean =>
  controllerOf(set)?.uid === metadata.uid && isSameTemplate(set.spec.template, spec.template);

/** A ReplicaSet of another template or owner has the name: the next hash is tried. */
function collide(deployment: Stored<Deployment>, name: string): DeploymentDecision {
  const status = { ...deployment.status, collisionCount: (deployment.status.collisionCount ?? 0) + 1 };
  return decided('HashCollision', `replica set ${name} is not of its template`, [{ do: 'updateStatus', object: { ...deployment, status }, from: deployment }]);
}

function setFor(deployment: Stored<Deployment>, { replicaSets, revision }: { readonly replicaSets: ReplicaSets; readonly revision: bigint }): ReplicaSet {
  const { spec, metadata, status } = deployment;
  const hash = shortHash(spec.template, status.collisionCount);
  const labels = { ...spec.template.metadata.labels, [templateHashLabel]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: nameFor(metadata.name, hash),
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels,
      annotations: annotationsOfNew(deployment, revision),
      ownerReferences: [controllerReference(deployment, deploymentKind)],
    },
    spec: {
      replicas: sizeOfNew(deployment, replicaSets),
      ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector?.matchLabels, [templateHashLabel]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
    status: { replicas: 0 },
  };
}

const longestName = 253;

const nameFor = (deployment: string, hash: string): string => `${deployment.slice(0, longestName - 1 - hash.length)}-${hash}`;
