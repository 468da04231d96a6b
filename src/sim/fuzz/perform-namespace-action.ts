import type { PersistentVolumeClaim, Pod, ResourceQuota } from '../../api/generated/types.ts';
import type { Kind } from '../../api/kind.ts';
import { limitRangeKind } from '../../api/kinds/core/limit-range.ts';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { resourceQuotaKind } from '../../api/kinds/core/resource-quota.ts';
import { serviceAccountKind } from '../../api/kinds/core/service-account.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Draft, Ref } from '../../client/client.ts';
import type { NamespaceAction } from './plan/namespace-actions.ts';

/** Requests of the acting user. Each resolves with 'done' or the reason why not. */
export interface UserRequests {
  create<T extends KubeObject>(kind: Kind<T>, object: Draft<T>): Promise<string>;
  delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, propagation?: 'Orphan' | 'Foreground'): Promise<string>;
  change<T extends KubeObject>(kind: Kind<T>, ref: Ref, change: (object: T) => T): Promise<string>;
}

const defaultClass = 'storageclass.kubernetes.io/is-default-class';

/** Performs what users and administrators do in namespaces of their own. */
export async function performNamespaceAction(action: NamespaceAction, requests: UserRequests): Promise<string> {
  switch (action.do) {
    case 'create-namespace':
      return requests.create(namespaceKind, { metadata: { name: action.namespace } });
    case 'delete-namespace':
      return requests.delete(namespaceKind, { name: action.namespace });
    case 'create-quota':
      return requests.create(resourceQuotaKind, { metadata: { namespace: action.namespace, name: 'quota' }, spec: { hard: hardOf(action) } });
    case 'create-limit-range':
      return requests.create(limitRangeKind, {
        metadata: { namespace: action.namespace, name: 'limits' },
        spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: `${action.mostGi}Gi` } }] },
      });
    case 'create-claims':
      return atOnce(action.names, (name) => requests.create(persistentVolumeClaimKind, claim(action, name)));
    case 'create-pods':
      return atOnce(action.names, (name) => requests.create(podKind, pod(action.namespace, name)));
    case 'delete-claims':
      return atOnce(action.names, (name) => requests.delete(persistentVolumeClaimKind, { namespace: action.namespace, name }));
    case 'delete-service-account':
      return requests.delete(serviceAccountKind, { namespace: action.namespace, name: 'default' });
    case 'set-default-class':
      return requests.change(storageClassKind, { name: action.name }, (found) => ({
        ...found,
        metadata: { ...found.metadata, annotations: { ...found.metadata.annotations, [defaultClass]: String(action.isDefault) } },
      }));
  }
}

/** Racing requests: none waits for another. */
async function atOnce(names: readonly string[], act: (name: string) => Promise<string>): Promise<string> {
  const endings = await Promise.all(names.map(act));
  return endings.find((ending) => ending !== 'done') ?? 'done';
}

const hardOf = ({ claims, pods, storageGi }: Extract<NamespaceAction, { do: 'create-quota' }>): NonNullable<ResourceQuota['spec']['hard']> => ({
  persistentvolumeclaims: String(claims),
  pods: String(pods),
  'requests.storage': `${storageGi}Gi`,
});

const claim = ({ namespace, sizeGi, storageClass }: Extract<NamespaceAction, { do: 'create-claims' }>, name: string): Draft<PersistentVolumeClaim> => ({
  metadata: { namespace, name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: `${sizeGi}Gi` } },
    ...(storageClass === undefined ? {} : { storageClassName: storageClass }),
  },
});

const pod = (namespace: string, name: string): Draft<Pod> => ({
  metadata: { namespace, name },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'app', image: 'app' }] },
});
