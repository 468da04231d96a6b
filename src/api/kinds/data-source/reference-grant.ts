/** gateway.networking.k8s.io/v1beta1: which objects may be named from other namespaces (gateway-api, config/crd). */
import type { ObjectMeta } from '../../generated/types.ts';
import type { JsonSchema } from '../../json-schema.ts';
import type { Kind } from '../../kind.ts';
import { ageColumn, list, object, predefine, preferredKind, text, topLevel } from '../snapshot/schemas.ts';

/** Lets objects of other namespaces name objects of its own namespace. */
export interface ReferenceGrant {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  readonly spec: {
    readonly from: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
    /** Without a name: all objects of the kind. */
    readonly to: readonly { readonly group: string; readonly kind: string; readonly name?: string }[];
  };
}

const group: JsonSchema = {
  ...text('The API group; empty for the core group.'),
  maxLength: 253,
  pattern: '^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
};
const kind: JsonSchema = { ...text('The kind.'), minLength: 1, maxLength: 63, pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$' };
const namespace: JsonSchema = { ...text('The namespace of the objects that refer.'), minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' };
const name: JsonSchema = { ...text('The name of the only object; absent: all of the kind.'), minLength: 1, maxLength: 253 };

export const referenceGrantDefinition = predefine({
  group: 'gateway.networking.k8s.io',
  versions: ['v1beta1'],
  names: { plural: 'referencegrants', singular: 'referencegrant', kind: 'ReferenceGrant', shortNames: ['refgrant'] },
  namespaced: true,
  hasStatus: false,
  columns: [ageColumn],
  schema: topLevel(
    'Lets objects of other namespaces name objects of its own namespace.',
    {
      spec: object({
        properties: {
          from: {
            ...list(object({ properties: { group, kind, namespace }, required: ['group', 'kind', 'namespace'] }), 'Which objects may refer.'),
            minItems: 1,
            maxItems: 16,
          },
          to: {
            ...list(object({ properties: { group, kind, name }, required: ['group', 'kind'] }), 'Which objects they may name.'),
            minItems: 1,
            maxItems: 16,
          },
        },
        required: ['from', 'to'],
      }),
    },
    [],
  ),
});

export const referenceGrantKind: Kind<ReferenceGrant> = preferredKind(referenceGrantDefinition);
