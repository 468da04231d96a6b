/** karpenter.sh/v1 NodeClaim: one node that the autoscaler launches, from the request to the end of its instance. */
import type { Condition, ObjectMeta } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { ageColumn, column, object, preferredKind, text, time, topLevel } from '../snapshot/schemas.ts';
import type { NodeTemplateSpec } from './node-pool.ts';
import {
  conditionsSchema,
  defineKarpenterKind,
  durationOrNeverPattern,
  durationPattern,
  nodeClassRefSchema,
  quantities,
  requirementsSchema,
  taintsSchema,
  wideColumn,
} from './schemas.ts';

export interface NodeClaimStatus {
  readonly nodeName?: string;
  readonly providerID?: string;
  readonly imageID?: string;
  readonly capacity?: Readonly<Record<string, string>>;
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly lastPodEventTime?: string;
  readonly conditions?: readonly Condition[];
}

export interface NodeClaim {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  readonly spec: NodeTemplateSpec & { readonly resources?: { readonly requests?: Readonly<Record<string, string>> } };
  readonly status?: NodeClaimStatus;
}

export const nodeClaimDefinition = defineKarpenterKind({
  group: 'karpenter.sh',
  kind: 'NodeClaim',
  columns: [
    column('Type', 'string', '.metadata.labels.node\\.kubernetes\\.io/instance-type'),
    column('Capacity', 'string', '.metadata.labels.karpenter\\.sh/capacity-type'),
    column('Zone', 'string', '.metadata.labels.topology\\.kubernetes\\.io/zone'),
    column('Node', 'string', '.status.nodeName'),
    column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status'),
    ageColumn,
    wideColumn('ImageID', 'string', '.status.imageID'),
    wideColumn('ID', 'string', '.status.providerID'),
    wideColumn('NodePool', 'string', '.metadata.labels.karpenter\\.sh/nodepool'),
    wideColumn('NodeClass', 'string', '.spec.nodeClassRef.name'),
    wideColumn('Drifted', 'string', '.status.conditions[?(@.type=="Drifted")].status'),
  ],
  schema: topLevel(
    'One node of a NodePool.',
    {
      spec: object({
        description: 'The node that is requested. Immutable.',
        properties: {
          expireAfter: { ...text('How long the node may exist.'), default: '720h', pattern: durationOrNeverPattern },
          nodeClassRef: nodeClassRefSchema([]),
          requirements: requirementsSchema(false),
          resources: object({
            description: 'What the pods need that the node is launched for.',
            properties: { requests: quantities('The least that the node must have.') },
          }),
          startupTaints: taintsSchema('Taints that the node has at first, and that another component removes.'),
          taints: taintsSchema('Taints of the node.'),
          terminationGracePeriod: { ...text('How long the drain of the node may take.'), pattern: durationPattern },
        },
        required: ['nodeClassRef', 'requirements'],
        rules: [{ rule: 'self == oldSelf', message: 'spec is immutable' }],
      }),
      status: object({
        description: 'The instance and its node.',
        properties: {
          allocatable: quantities('What pods may use of the node.'),
          capacity: quantities('What the node has.'),
          conditions: conditionsSchema,
          imageID: text('The image of the instance.'),
          lastPodEventTime: time('When a pod was bound to the node, or ended there, last.'),
          nodeName: text('The name of the Node.'),
          providerID: text('The id of the instance.'),
        },
      }),
    },
    ['spec'],
  ),
});

export const nodeClaimKind: Kind<NodeClaim> = preferredKind(nodeClaimDefinition);
