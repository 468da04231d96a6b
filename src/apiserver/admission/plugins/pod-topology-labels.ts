import type { Binding, Node, Pod } from '../../../api/generated/types.ts';
import type { Resources } from '../../objects/resources.ts';
import { type AdmissionPlugin, isResource } from '../chain.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';

const copied = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'] as const;

/** A pod gets the zone and region labels of its node when it is bound to it or created on it. */
export function podTopologyLabels(resources: Resources, reader: ClusterReader): AdmissionPlugin {
  const nodes = resources.require('v1', 'nodes');
  return {
    name: 'PodTopologyLabels',
    handles: (operation, resource, subresource) =>
      operation === 'create' && isResource(resource, '', 'pods') && (subresource === '' || subresource === 'binding'),
    mutate: async ({ object, subresource }) => {
      const nodeName = subresource === 'binding' ? targetNode(object as Binding) : ((object as Pod).spec.nodeName ?? '');
      if (nodeName === '') return;
      const labels = (await reader.get<Node>(nodes, '', nodeName))?.metadata.labels ?? {};
      for (const key of copied) {
        const value = labels[key];
        if (value !== undefined) (object.metadata.labels ??= {})[key] = value;
      }
    },
  };
}

const targetNode = ({ target }: Binding): string => (target.kind === 'Node' ? (target.name ?? '') : '');
