import type { Deployment, OwnerReference, ReplicaSet, StatefulSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { type Kind, qualifiedResource } from '../../../api/kind.ts';
import { deploymentKind } from '../../../api/kinds/apps/deployment.ts';
import { replicaSetKind } from '../../../api/kinds/apps/replica-set.ts';
import { statefulSetKind } from '../../../api/kinds/apps/stateful-set.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Cache } from '../../../client/informers/cache.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { controllerOf } from '../../pods/ownership.ts';
import type { Scale } from './expected.ts';

/** The replicas of the controllers of pods. */
export class Scales {
  readonly #replicaSets: Cache<ReplicaSet>;
  readonly #deployments: Cache<Deployment>;
  readonly #statefulSets: Cache<StatefulSet>;
  readonly #kinds: readonly Kind[];

  /** `kinds`: all kinds that are served. */
  constructor(informers: Informers, kinds: readonly Kind[]) {
    this.#replicaSets = informers.cache(replicaSetKind);
    this.#deployments = informers.cache(deploymentKind);
    this.#statefulSets = informers.cache(statefulSetKind);
    this.#kinds = kinds;
  }

  of(owner: OwnerReference, namespace: string): Scale {
    const group = groupOf(owner.apiVersion);
    if (owner.kind === 'ReplicaSet' && (group === 'apps' || group === 'extensions')) return this.#ofReplicaSet(owner, namespace);
    if (owner.kind === 'StatefulSet' && group === 'apps') return found(this.#statefulSets.get({ namespace, name: owner.name }), owner.uid);
    if (owner.kind === 'Deployment' && group === 'apps') return found(this.#deployments.get({ namespace, name: owner.name }), owner.uid);
    const kind = this.#kinds.find((each) => each.group === group && each.kind === owner.kind);
    if (kind === undefined)
      return { state: 'unscalable', why: `no matches for kind ${JSON.stringify(owner.kind)} in version ${JSON.stringify(owner.apiVersion)}` };
    return { state: 'unscalable', why: `${qualifiedResource(kind)} does not implement the scale subresource` };
  }

  /** The scale of its Deployment, if it has one. */
  #ofReplicaSet(owner: OwnerReference, namespace: string): Scale {
    const set = this.#replicaSets.get({ namespace, name: owner.name });
    const above = set === undefined || set.metadata.uid !== owner.uid ? undefined : controllerOf(set);
    if (above?.kind === 'Deployment' && ['apps', 'extensions'].includes(groupOf(above.apiVersion))) {
      const scale = found(this.#deployments.get({ namespace, name: above.name }), above.uid);
      if (scale.state === 'found') return scale;
    }
    return found(set, owner.uid);
  }
}

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '');

function found(object: (Stored<KubeObject> & { readonly spec: { readonly replicas?: number } }) | undefined, uid: string): Scale {
  if (object === undefined || object.metadata.uid !== uid) return { state: 'missing' };
  return { state: 'found', uid, replicas: object.spec.replicas ?? 1 };
}
