/** karpenter.sh/v1 NodePool: which nodes the autoscaler may launch, and when it may remove them. */
import type { ObjectMeta, Taint } from '../../generated/types.ts';
import type { Condition } from '../../generated/types.ts';
import type { JsonSchema } from '../../json-schema.ts';
import type { Kind } from '../../kind.ts';
import { ageColumn, column, object, preferredKind, text, topLevel } from '../snapshot/schemas.ts';
import {
  conditionsSchema,
  defineKarpenterKind,
  durationOrNeverPattern,
  durationPattern,
  labelValuePattern,
  nodeClassRefSchema,
  quantities,
  requirementsSchema,
  taintsSchema,
  wideColumn,
} from './schemas.ts';

export interface NodeRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
  readonly minValues?: number;
}

export interface NodeClassRef {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** What NodePool templates and NodeClaims have in common. */
export interface NodeTemplateSpec {
  readonly taints?: readonly Taint[];
  readonly startupTaints?: readonly Taint[];
  readonly requirements: readonly NodeRequirement[];
  readonly nodeClassRef: NodeClassRef;
  /** '720h' or 'Never' */
  readonly expireAfter?: string;
  readonly terminationGracePeriod?: string;
}

export interface DisruptionBudget {
  /** '10%' or '5' */
  readonly nodes: string;
  readonly schedule?: string;
  readonly duration?: string;
  readonly reasons?: readonly string[];
}

export interface NodePool {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  readonly spec: {
    readonly template: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: NodeTemplateSpec;
    };
    readonly disruption?: {
      readonly consolidateAfter?: string;
      readonly consolidationPolicy?: 'WhenEmpty' | 'WhenEmptyOrUnderutilized' | 'Balanced';
      readonly budgets?: readonly DisruptionBudget[];
    };
    readonly limits?: Readonly<Record<string, string | number>>;
    readonly weight?: number;
    readonly replicas?: number;
  };
  readonly status?: {
    readonly nodes?: number;
    readonly resources?: Readonly<Record<string, string>>;
    readonly conditions?: readonly Condition[];
  };
}

const budgetsSchema: JsonSchema = {
  type: 'array',
  description: 'How many nodes may be disrupted at a time. The most restrictive active budget holds.',
  default: [{ nodes: '10%' }],
  maxItems: 50,
  'x-kubernetes-list-type': 'atomic',
  items: object({
    description: 'A budget.',
    properties: {
      nodes: { ...text('A number of nodes, or a percentage of the nodes of the NodePool.'), default: '10%', pattern: '^((100|[0-9]{1,2})%|[0-9]+)$' },
      schedule: {
        ...text('When the budget becomes active, as a cron schedule in UTC.'),
        pattern: '^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\\s(.+)\\s(.+)\\s(.+)\\s(.+))$',
      },
      duration: { ...text('How long the budget is active.'), pattern: '^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$' },
      reasons: {
        type: 'array',
        description: 'The reasons that the budget applies to; absent: all.',
        maxItems: 50,
        'x-kubernetes-list-type': 'set',
        items: { type: 'string', enum: ['Underutilized', 'Empty', 'Drifted'] },
      },
    },
    required: ['nodes'],
  }),
  'x-kubernetes-validations': [{ rule: 'self.all(x, has(x.schedule) == has(x.duration))', message: "'schedule' must be set with 'duration'" }],
};

const templateMetadata: JsonSchema = object({
  properties: {
    annotations: { type: 'object', additionalProperties: { type: 'string' }, description: 'Annotations of the nodes.' },
    labels: {
      type: 'object',
      description: 'Labels of the nodes.',
      maxProperties: 100,
      additionalProperties: { type: 'string', maxLength: 63, pattern: labelValuePattern },
      'x-kubernetes-validations': [
        {
          rule: 'self.all(x, x in ["karpenter.sh/capacity-type", "karpenter.sh/nodepool"] || !x.find("^([^/]+)").endsWith("karpenter.sh"))',
          message: 'label domain "karpenter.sh" is restricted',
        },
        { rule: 'self.all(x, x != "karpenter.sh/nodepool")', message: 'label "karpenter.sh/nodepool" is restricted' },
        { rule: 'self.all(x, x != "kubernetes.io/hostname")', message: 'label "kubernetes.io/hostname" is restricted' },
      ],
    },
  },
});

const specSchema: JsonSchema = object({
  description: 'Which nodes may be launched.',
  properties: {
    disruption: {
      ...object({
        description: 'When nodes may be removed.',
        properties: {
          budgets: budgetsSchema,
          consolidateAfter: { ...text('How long a node is left alone after the last change of its pods.'), default: '0s', pattern: durationOrNeverPattern },
          consolidationPolicy: {
            ...text('Which nodes are consolidated.'),
            default: 'WhenEmptyOrUnderutilized',
            enum: ['WhenEmpty', 'WhenEmptyOrUnderutilized', 'Balanced'],
          },
        },
      }),
      default: { consolidateAfter: '0s' },
    },
    limits: quantities('The most that the nodes of the NodePool may have together.'),
    replicas: { type: 'integer', format: 'int64', minimum: 0, description: 'A fixed number of nodes.' },
    template: object({
      description: 'The nodes.',
      properties: {
        metadata: templateMetadata,
        spec: object({
          description: 'What the NodeClaims of the NodePool have.',
          properties: {
            expireAfter: { ...text('How long a node may exist.'), default: '720h', pattern: durationOrNeverPattern },
            nodeClassRef: nodeClassRefSchema([
              { rule: 'self.group == oldSelf.group', message: 'nodeClassRef.group is immutable' },
              { rule: 'self.kind == oldSelf.kind', message: 'nodeClassRef.kind is immutable' },
            ]),
            requirements: requirementsSchema(true),
            startupTaints: taintsSchema('Taints that the node has at first, and that another component removes.'),
            taints: taintsSchema('Taints of the node.'),
            terminationGracePeriod: { ...text('How long the drain of a node may take.'), pattern: durationPattern },
          },
          required: ['nodeClassRef', 'requirements'],
        }),
      },
      required: ['spec'],
    }),
    weight: { type: 'integer', format: 'int32', minimum: 1, maximum: 100, description: 'NodePools with a higher weight are tried first.' },
  },
  required: ['template'],
  rules: [
    {
      rule: 'has(self.replicas) == has(oldSelf.replicas)',
      message: 'Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes',
    },
    {
      rule: "!has(self.replicas) || (!has(self.limits) || size(self.limits) == 0 || (size(self.limits) == 1 && 'nodes' in self.limits))",
      message: "only 'limits.nodes' is supported on static NodePools",
    },
    { rule: '!has(self.replicas) || !has(self.weight)', message: "'weight' is not supported on static NodePools" },
  ],
});

export const nodePoolDefinition = defineKarpenterKind({
  group: 'karpenter.sh',
  kind: 'NodePool',
  columns: [
    column('NodeClass', 'string', '.spec.template.spec.nodeClassRef.name'),
    column('Nodes', 'string', '.status.nodes'),
    column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status'),
    ageColumn,
    wideColumn('Weight', 'integer', '.spec.weight'),
    wideColumn('CPU', 'string', '.status.resources.cpu'),
    wideColumn('Memory', 'string', '.status.resources.memory'),
  ],
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.nodes' },
  schema: topLevel(
    'Which nodes the autoscaler may launch, and when it may remove them.',
    {
      spec: specSchema,
      status: object({
        description: 'What the NodePool has.',
        properties: {
          conditions: conditionsSchema,
          nodeClassObservedGeneration: { type: 'integer', format: 'int64' },
          nodes: { type: 'integer', format: 'int64', default: 0, description: 'The number of its nodes.' },
          resources: quantities('What its nodes have together.'),
        },
      }),
    },
    ['spec'],
  ),
});

export const nodePoolKind: Kind<NodePool> = preferredKind(nodePoolDefinition);
