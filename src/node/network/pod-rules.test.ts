import { expect, test } from 'vitest';
import type { ContainerPort, Pod } from '../../api/generated/types.ts';
import { hostPortRules } from './pod-rules.ts';

const rulesOf = (ports: ContainerPort[], hostNetwork = false) => {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', uid: 'u' },
    spec: { hostNetwork, containers: [{ name: 'c', resources: {}, ports }] },
    status: { podIP: '10.0.0.1' },
  };
  const part = hostPortRules(pod, () => 'x');
  return part === undefined
    ? undefined
    : {
        chains: Object.fromEntries(part.chains ?? []),
        ...Object.fromEntries([...(part.elements ?? [])].map(([set, keys]) => [set, Object.fromEntries(keys)])),
      };
};

test('host ports lead to the pod, on all addresses of the host or on one', () => {
  expect(rulesOf([{ containerPort: 80, hostPort: 8080, protocol: 'TCP' }])).toEqual({
    chains: { 'hostport-x': ['meta l4proto tcp dnat to 10.0.0.1:80'] },
    hostports: { 'tcp . 8080': 'goto hostport-x' },
    'hostip-hostports': {},
    hairpin: { '10.0.0.1 . 10.0.0.1': '' },
  });
  expect(rulesOf([{ containerPort: 53, hostPort: 53, protocol: 'UDP', hostIP: '127.0.0.1' }])).toMatchObject({
    hostports: {},
    'hostip-hostports': { '127.0.0.1 . udp . 53': 'goto hostport-x' },
  });
});

test('a pod without host ports, or on the network of the host, adds nothing', () => {
  expect(rulesOf([{ containerPort: 80 }])).toBeUndefined();
  expect(rulesOf([{ containerPort: 80, hostPort: 80 }], true)).toBeUndefined();
});
