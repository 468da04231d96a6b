import { apiVersionOf, type Kind } from '../../api/kind.ts';
import type { OwnerReference, Pod, PodTemplateSpec } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { nameIsDnsSubdomain } from '../../api/validation/names.ts';
import type { Draft } from '../../client/client.ts';

/** The controller reference to `owner`, with blockOwnerDeletion. */
export function controllerReference(
  owner: { readonly metadata: Pick<Stored['metadata'], 'name' | 'uid'> },
  kind: Pick<Kind, 'group' | 'version' | 'kind'>,
): OwnerReference {
  const { name, uid } = owner.metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** A pod of the template, controlled by `owner`, with generateName. */
export function podFromTemplate(template: PodTemplateSpec, owner: Stored, kind: Pick<Kind, 'group' | 'version' | 'kind'>): Draft<Pod> {
  const { labels, annotations, finalizers } = template.metadata;
  return {
    metadata: {
      namespace: owner.metadata.namespace,
      generateName: podNamePrefix(owner.metadata.name),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [controllerReference(owner, kind)],
    },
    spec: template.spec,
  };
}

/** With a dash, unless the prefix would be too long for a pod name. */
function podNamePrefix(ownerName: string): string {
  const prefix = `${ownerName}-`;
  return nameIsDnsSubdomain(prefix, true).length === 0 ? prefix : ownerName;
}
