/** Services and pods for unit tests. */
import type { ObjectMeta, Pod, Service } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';

export const service = (spec: Partial<Service['spec']> = {}, metadata: Partial<ObjectMeta> = {}): Stored<Service> => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'team', name: 'web', uid: 's1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
  spec: {
    selector: { app: 'web' },
    clusterIP: '10.96.0.7',
    ipFamilies: ['IPv4'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
    ...spec,
  },
  status: { loadBalancer: {} },
});

export interface PodOptions {
  readonly ips?: readonly string[];
  readonly ready?: boolean;
  readonly node?: string;
  readonly terminating?: boolean;
  readonly phase?: string;
  readonly spec?: Partial<Pod['spec']>;
}

export const pod = (
  name: string,
  { ips = [`10.0.0.${name.charCodeAt(0) - 96}`], ready = true, node = 'n1', terminating: going = false, phase = 'Running', spec = {} }: PodOptions = {},
): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'team',
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    labels: { app: 'web' },
    ...(going ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: { containers: [], nodeName: node, ...spec },
  status: {
    phase,
    ...(ips.length === 0 ? {} : { podIP: ips[0] ?? '', podIPs: ips.map((ip) => ({ ip })) }),
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:01:00Z' }],
  },
});
