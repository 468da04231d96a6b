/** The two kinds that keep a number of pods: a ReplicationController is an older ReplicaSet (pkg/controller/replication/conversion.go). */
import type { ReplicaSet, ReplicationController } from '../../../api/generated/types.ts';
import { type Kind, untypedKind } from '../../../api/kind.ts';
import { replicaSetKind } from '../../../api/kinds/apps/replica-set.ts';
import { replicationControllerKind } from '../../../api/kinds/apps/replication-controller.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Stored } from '../../../api/stored.ts';

export interface Variant<T extends KubeObject> {
  /** The controller's name. */
  readonly name: string;
  readonly kind: Kind<T>;
  /** The object as a ReplicaSet, with its own kind and apiVersion. */
  readonly toReplicaSet: (object: Stored<T>) => Stored<ReplicaSet>;
}

export const replicaSets: Variant<ReplicaSet> = { name: 'replica-set', kind: replicaSetKind, toReplicaSet: (set) => set };

const noTemplate: ReplicaSet['spec']['template'] = { metadata: {}, spec: { containers: [] } };

export const replicationControllers: Variant<ReplicationController> = {
  name: 'replication-controller',
  kind: replicationControllerKind,
  toReplicaSet: (object) => {
    const { selector = {}, template = noTemplate, ...spec } = object.spec;
    return { ...object, spec: { ...spec, selector: { matchLabels: selector }, template } };
  },
};

const isReplicationController = ({ kind }: KubeObject): boolean => kind === replicationControllerKind.kind;

/** The kind of what is shown as a ReplicaSet. */
export const kindOf = (set: Stored<ReplicaSet>): Kind => (isReplicationController(set) ? untypedKind(replicationControllerKind) : untypedKind(replicaSetKind));

/** What is shown as a ReplicaSet, as the server has it. */
export function toWritten(set: ReplicaSet): KubeObject {
  const { spec } = set;
  const written = isReplicationController(set) ? { ...set, spec: { ...spec, selector: spec.selector?.matchLabels ?? {} } } : set;
  return written;
}
