/** What the schemas of Karpenter's kinds share (kubernetes-sigs/karpenter, pkg/apis/crds, v1.14). */
import type { CustomResourceDefinition, PrinterColumn, ScaleSubresource } from '../../apiextensions/definition.ts';
import type { JsonSchema, ValidationRule } from '../../json-schema.ts';
import { object, text, time } from '../snapshot/schemas.ts';

export const labelKeyPattern = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$';
export const labelValuePattern = '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$';
export const durationPattern = '^([0-9]+(s|m|h))+$';
export const durationOrNeverPattern = '^(([0-9]+(s|m|h))+|Never)$';
const quantityPattern = '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

export const quantities = (description: string): JsonSchema => ({
  type: 'object',
  description,
  additionalProperties: { anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: quantityPattern, 'x-kubernetes-int-or-string': true },
});

const nonEmpty = (field: string): readonly ValidationRule[] => [{ rule: "self != ''", message: `${field} may not be empty` }];

export const nodeClassRefSchema = (rules: readonly ValidationRule[]): JsonSchema =>
  object({
    description: 'The object with the settings of the cloud.',
    properties: {
      group: { ...text('The API group of the object.', nonEmpty('group')), pattern: '^[^/]*$' },
      kind: text('The kind of the object.', nonEmpty('kind')),
      name: text('The name of the object.', nonEmpty('name')),
    },
    required: ['group', 'kind', 'name'],
    rules,
  });

/** Labels that a user may not require of a node. `own`: the NodePool's own label too. */
const restrictedKeys = (own: boolean): readonly ValidationRule[] => [
  {
    rule: 'self in ["karpenter.sh/capacity-type", "karpenter.sh/nodepool"] || !self.find("^([^/]+)").endsWith("karpenter.sh")',
    message: 'label domain "karpenter.sh" is restricted',
  },
  ...(own ? [{ rule: 'self != "karpenter.sh/nodepool"', message: 'label "karpenter.sh/nodepool" is restricted' }] : []),
  { rule: 'self != "kubernetes.io/hostname"', message: 'label "kubernetes.io/hostname" is restricted' },
];

const comparesNumber = "(x.operator == 'Gt' || x.operator == 'Lt' || x.operator == 'Gte' || x.operator == 'Lte')";

export const requirementsSchema = (own: boolean): JsonSchema => ({
  type: 'array',
  description: 'What the labels of the node have to satisfy.',
  maxItems: 100,
  'x-kubernetes-list-type': 'atomic',
  items: object({
    description: 'A requirement of one label.',
    properties: {
      key: { ...text('The label.', restrictedKeys(own)), maxLength: 316, pattern: labelKeyPattern },
      operator: { ...text('How the label compares with the values.'), enum: ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'] },
      values: {
        type: 'array',
        description: 'The values; one number for Gt, Lt, Gte and Lte.',
        items: { type: 'string' },
        maxItems: 1000,
        'x-kubernetes-list-type': 'atomic',
      },
      minValues: { type: 'integer', minimum: 1, maximum: 50, description: 'How many different values the instance types must have.' },
    },
    required: ['key', 'operator'],
  }),
  'x-kubernetes-validations': [
    { rule: "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)", message: "requirements with operator 'In' must have a value defined" },
    {
      rule: `self.all(x, ${comparesNumber} ? (x.values.size() == 1 && int(x.values[0]) >= 0) : true)`,
      message: "requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value",
    },
    {
      rule: "self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)",
      message: "requirements with 'minValues' must have at least that many values specified in the 'values' field",
    },
  ],
});

export const taintsSchema = (description: string): JsonSchema => ({
  type: 'array',
  description,
  'x-kubernetes-list-type': 'atomic',
  items: object({
    description: 'A taint.',
    properties: {
      key: { ...text('The key of the taint.'), minLength: 1, pattern: labelKeyPattern },
      value: { ...text('The value of the taint.'), pattern: labelKeyPattern },
      effect: { ...text('The effect of the taint.'), enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
      timeAdded: time('When the taint was added.'),
    },
    required: ['effect', 'key'],
  }),
});

export const conditionsSchema: JsonSchema = {
  type: 'array',
  description: 'Conditions.',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: object({
    description: 'A condition.',
    properties: {
      lastTransitionTime: time('When the status of the condition changed last.'),
      message: { ...text('Details.'), maxLength: 32768 },
      observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
      reason: { ...text('The reason of the last transition.'), minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' },
      status: { ...text('True, False or Unknown.'), enum: ['True', 'False', 'Unknown'] },
      type: { ...text('The type of the condition.'), maxLength: 316 },
    },
    required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
  }),
};

export interface KarpenterDefinition {
  readonly group: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly schema: JsonSchema;
  readonly columns: readonly PrinterColumn[];
  readonly scale?: ScaleSubresource;
}

/** A cluster-scoped kind in version v1, with a status, as Karpenter defines all of its kinds. */
export function defineKarpenterKind({ group, kind, shortNames = [], schema, columns, scale }: KarpenterDefinition): CustomResourceDefinition {
  const singular = kind.toLowerCase();
  const plural = singular.endsWith('s') ? `${singular}es` : `${singular}s`;
  const names = {
    plural,
    singular,
    kind,
    listKind: `${kind}List`,
    categories: ['karpenter'],
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
  };
  const subresources = { status: {}, ...(scale === undefined ? {} : { scale }) };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources, additionalPrinterColumns: [...columns] };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, names, scope: 'Cluster', versions: [version], conversion: { strategy: 'None' } },
    status: { conditions: [{ type: 'Established', status: 'True' }], acceptedNames: names, storedVersions: ['v1'] },
  };
}

/** A column that only -o wide shows. */
export const wideColumn = (name: string, type: PrinterColumn['type'], jsonPath: string): PrinterColumn => ({ name, type, jsonPath, priority: 1 });
