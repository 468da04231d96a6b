import type { Container, ContainerPort, ObjectMeta, Pod } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import type { KubeObject } from '../../object.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';

/**
 * What NetworkPolicies read of a pod: labels, address, node, and the ports of its containers, each where a Pod has it. A view of the stored pods that is only
 * read. The network of a node needs it of all pods; the rest of a Pod of another node (commands, environment, names of secrets) is none of the node's business.
 */
export interface PodAddress {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: PodAddressSpec;
  status: { readonly phase?: string; readonly podIP?: string };
}

interface PodAddressSpec {
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly containers?: readonly PodAddressContainer[];
  readonly initContainers?: readonly PodAddressContainer[];
}

interface PodAddressContainer {
  readonly name: string;
  readonly ports?: readonly ContainerPort[];
}

const portsOf = (containers: readonly Container[] | null | undefined): readonly PodAddressContainer[] =>
  (containers ?? []).flatMap(({ name, ports = [] }) => (ports.length === 0 ? [] : [{ name, ports }]));

export function podAddressOf({ metadata, spec, status }: Pod): PodAddress {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels } = metadata;
  return {
    kind: 'PodAddress',
    apiVersion: 'mooring.dev/v1',
    metadata: defined({ name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels }),
    spec: defined({
      nodeName: spec.nodeName,
      hostNetwork: spec.hostNetwork,
      containers: portsOf(spec.containers),
      initContainers: portsOf(spec.initContainers),
    }),
    status: defined({ phase: status.phase, podIP: status.podIP }),
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const defined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;

export const podAddressKind: Kind<PodAddress> = {
  group: 'mooring.dev',
  version: 'v1',
  kind: 'PodAddress',
  plural: 'podaddresses',
  singular: 'podaddress',
  shortNames: [],
  categories: [],
  namespaced: true,
  type: 'PodAddress',
  storage: {
    resource: 'pods',
    convert: {
      fromStored: (stored: KubeObject) => podAddressOf(stored as Pod),
      toStored: () => {
        throw new Error('a PodAddress is only read');
      },
    },
  },
  verbs: ['get', 'list', 'watch'],
  validateName: nameIsDnsSubdomain,
  hasGeneration: false,
  unconditionalUpdate: false,
  selectableFields: { 'spec.nodeName': ({ spec }) => spec.nodeName ?? '' },
  columns: [nameColumn, textColumn('IP', ({ status }) => status.podIP ?? ''), textColumn('Node', ({ spec }) => spec.nodeName ?? ''), ageColumn],
};
