import { apiVersionOf, type Kind } from '../../api/kind.ts';
import type { OwnerReference, Pod, PodTemplateSpec } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { nameIsDnsSubdomain } from '../../api/validation/names.ts';
import type { Draft } from '../../client/client.ts';

/** What a dependent of `owner` says about it: this one manages me, and is not gone before I am. */
export function controllerReference(owner: KubeObject, kind: Pick<Kind, 'group' | 'version' | 'kind'>): OwnerReference {
  const { name = '', uid = '' } = owner.metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** A pod as its template says, managed by its owner, under a name that the server makes up. */
export function podFromTemplate(template: PodTemplateSpec, owner: KubeObject, kind: Pick<Kind, 'group' | 'version' | 'kind'>): Draft<Pod> {
  const { labels, annotations, finalizers } = template.metadata;
  return {
    metadata: {
      namespace: owner.metadata.namespace,
      generateName: podNamePrefix(owner.metadata.name ?? ''),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [controllerReference(owner, kind)],
    },
    spec: template.spec,
  };
}

/** With a dash, unless the name would be too long for a pod with it. */
function podNamePrefix(ownerName: string): string {
  const prefix = `${ownerName}-`;
  return nameIsDnsSubdomain(prefix, true).length === 0 ? prefix : ownerName;
}
