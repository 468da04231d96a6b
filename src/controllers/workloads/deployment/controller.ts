import type { Deployment, Pod, ReplicaSet } from '../../../api/generated/types.ts';
import { untypedKind } from '../../../api/kind.ts';
import type { Stored } from '../../../api/stored.ts';
import { deploymentKind } from '../../../api/kinds/apps/deployment.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { replicaSetKind } from '../../../api/kinds/apps/replica-set.ts';
import { type Cache, keyOf } from '../../../client/informers/cache.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import { RecordedEvents } from '../../../client/events/event-dedup.ts';
import { OrphanIndex } from '../../pods/orphan-index.ts';
import { controllerOf, controllerUid } from '../../pods/ownership.ts';
import { ownerKeys } from '../../pods/owner-keys.ts';
import type { DeploymentAction } from './actions.ts';
import { decideRollout, type DeploymentSnapshot } from './decide.ts';
import { type DeploymentContext, deploymentHandlers } from './perform.ts';

export interface DeploymentOptions extends DeploymentContext {
  readonly informers: Informers;
}

/** Rolls out the templates of Deployments. Keys are those of Deployments: 'namespace/name'. */
export function deploymentController({ informers, ...context }: DeploymentOptions): Controller<string, DeploymentSnapshot, DeploymentAction> {
  const deployments = informers.cache(deploymentKind);
  const sets = informers.cache(replicaSetKind);
  const setsByOwner = sets.addIndex(controllerUid);
  const orphans = new OrphanIndex(sets);
  const podsByOwner = informers.cache(podKind).addIndex(controllerUid);
  return defineController({
    name: 'deployment',
    sources: [
      source(deploymentKind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      source(replicaSetKind, (change) => ownerKeys(change, { kind: deploymentKind.kind, inNamespace: (namespace) => deployments.inNamespace(namespace) })),
      source(podKind, ({ before, after }) => (before === undefined || after !== undefined ? [] : keysForDeletedPod(before, sets, deployments))),
    ],
    snapshot(key) {
      const deployment = deployments.getKey(key);
      if (deployment === undefined) return undefined;
      const { namespace, uid } = deployment.metadata;
      return {
        deployment,
        candidates: [...setsByOwner.get(uid), ...orphans.candidates(namespace, deployment.spec.selector)],
        named: (name) => sets.get({ namespace, name }),
        podsOf: ({ metadata }) => podsByOwner.get(metadata.uid),
      };
    },
    decide: decideRollout,
    writer: new ObjectWriter(context.client, [untypedKind(deploymentKind), untypedKind(replicaSetKind)]),
    events: new RecordedEvents(context.recorder, context.clock),
    actions: deploymentHandlers(context),
    parallelism: 16,
  });
}

/** Recreate waits for the last old pod, also for one that lost its label while terminating and that its ReplicaSet does not count. */
function keysForDeletedPod(pod: Stored<Pod>, sets: Cache<ReplicaSet>, deployments: Cache<Deployment>): readonly string[] {
  return ownerKey(pod, replicaSetKind.kind)
    .flatMap((key) => sets.getKey(key) ?? [])
    .flatMap((set) => ownerKey(set, deploymentKind.kind))
    .filter((key) => deployments.getKey(key)?.spec.strategy.type === 'Recreate');
}

function ownerKey(object: Stored<Pod> | Stored<ReplicaSet>, kind: string): readonly string[] {
  const owner = controllerOf(object);
  return owner?.kind === kind ? [keyOf({ namespace: object.metadata.namespace, name: owner.name })] : [];
}
