import type { Node, Pod, PodSpec } from '../../../api/generated/types.ts';
import { isSidecar } from '../../../api/kinds/pod/pod-parts.ts';
import { podRequests } from '../../../api/kinds/pod/pod-resources.ts';
import { amountsOf, type ResourceAmounts } from '../../../api/kinds/pod/resource-amounts.ts';
import { sameMeaning } from '../../../api/validation/semantic-equality.ts';
import { compareQuantities, parseQuantity, quantityMilliValue, quantityValue } from '../../../api/quantity.ts';
import { ApiError } from '../../../api/status.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Resource, Resources } from '../../objects/resources.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource, type Operation } from '../chain.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import { admissionForbidden } from '../forbidden.ts';

/** A resize may need features that the node must declare (node.status.declaredFeatures). */
export function nodeDeclaredFeatures(resources: Resources, reader: ClusterReader): AdmissionPlugin {
  return {
    name: 'NodeDeclaredFeatureValidator',
    handles: isResizeRequest,
    validate: async (request) => {
      const needed = needsOf((request.object as Pod).spec, (request.old as Pod).spec);
      if (!isNewOnNode(request) || needed.length === 0) return;
      const node = await nodeOf(request, resources, reader);
      const missing = needed.filter((feature) => !(node.status.declaredFeatures ?? []).includes(feature));
      if (missing.length === 0) return;
      throw admissionForbidden(request, `pod update requires features ${missing.join(', ')} which are not available on node "${node.metadata.name}"`);
    },
  };
}

/** In alphabetical order. */
function needsOf(spec: PodSpec, old: PodSpec): readonly string[] {
  const isInitResized = (old.initContainers ?? []).some(
    (container, i) => !isSidecar(container) && !sameMeaning(container.resources, spec.initContainers?.[i]?.resources),
  );
  return [
    ...(sameMeaning(spec.resources, old.resources) ? [] : ['InPlacePodLevelResourcesVerticalScaling']),
    ...(isInitResized ? ['InPlacePodVerticalScalingInitContainers'] : []),
  ];
}

/** A resize must fit the node's allocatable resources. Whether it fits beside the other pods is the kubelet's decision. */
export function podResizeValidator(resources: Resources, reader: ClusterReader): AdmissionPlugin {
  return {
    name: 'PodResizeValidator',
    handles: isResizeRequest,
    validate: async (request) => {
      if (!isNewOnNode(request)) return;
      const node = await nodeOf(request, resources, reader);
      const os = node.metadata.labels?.['kubernetes.io/os'];
      if (os !== undefined && os !== 'linux') {
        throw refusedFor(request, `pod resize is only supported on linux nodes, node "${node.metadata.name}" is "${os}"`, 'UnsupportedPlatform');
      }
      const excess = excessOf(podRequests(request.object as Pod), amountsOf(node.status.allocatable));
      if (excess !== '') throw refusedFor(request, `node didn't have enough allocatable resources: ${excess}`, 'NodeCapacity');
    },
  };
}

const isResizeRequest = (operation: Operation, resource: Resource, subresource: string): boolean =>
  operation === 'update' && subresource === 'resize' && isResource(resource, '', 'pods');

/** The resize changes the pod, and the pod has a node. */
const isNewOnNode = ({ object, old }: AdmissionRequest): boolean =>
  ((object as Pod).spec.nodeName ?? '') !== '' && object.metadata.generation !== old?.metadata.generation;

async function nodeOf(request: AdmissionRequest, resources: Resources, reader: ClusterReader): Promise<Stored<Node>> {
  const name = (request.object as Pod).spec.nodeName ?? '';
  const node = await reader.get<Node>(resources.require('v1', 'nodes'), '', name);
  if (node === undefined) throw admissionForbidden(request, `node "${name}" not found`);
  return node;
}

const none = parseQuantity('0');

function excessOf(requests: ResourceAmounts, allocatable: ResourceAmounts): string {
  const counts = { cpu: quantityMilliValue, memory: quantityValue } as const;
  return Object.entries(counts)
    .filter(([name]) => compareQuantities(requests.get(name) ?? none, allocatable.get(name) ?? none) > 0)
    .map(([name, count]) => `${name}, requested: ${count(requests.get(name) ?? none)}, allocatable: ${count(allocatable.get(name) ?? none)}`)
    .join('; ');
}

function refusedFor(request: AdmissionRequest, why: string, reason: string): ApiError {
  const { code, reason: kind, message, details } = admissionForbidden(request, why);
  return new ApiError(code, kind, message, { ...details, causes: [{ reason }] });
}
