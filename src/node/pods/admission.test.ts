import { describe, expect, test } from 'vitest';
import type { Node, Pod, PodSpec } from '../../api/generated/types.ts';
import type { Host } from '../host.ts';
import { rejection } from './admission.ts';

const system = {
  machineID: '',
  systemUUID: '',
  bootID: '',
  kernelVersion: '',
  osImage: '',
  containerRuntimeVersion: '',
  kubeletVersion: '',
  kubeProxyVersion: '',
  operatingSystem: 'linux',
  architecture: 'amd64',
};
const host: Host = { name: 'n1', labels: {}, ip: '1.2.3.4', podCidr: '10.0.0.0/24', capacity: { cpu: '2', memory: '4Gi', pods: '3' }, system, drivers: [] };

function node(spec: Node['spec'] = {}, labels: Record<string, string> = { zone: 'a' }): Node {
  const allocatable = { ...host.capacity, 'example.com/gpu': '1' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', labels },
    spec,
    status: { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: system, allocatable },
  };
}

const pod = (spec: Partial<PodSpec> = {}, labels: Record<string, string> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', labels },
  spec: { containers: [{ name: 'app', resources: {} }], ...spec },
  status: {},
});
const asking = (requests: Record<string, string>): Pod => pod({ containers: [{ name: 'app', resources: { requests } }] });
const reason = (candidate: Pod, others: readonly Pod[] = [], on: Node | undefined = node()) => rejection({ pod: candidate, host, node: on, others });

describe('a node refuses a pod', () => {
  test.each<[Pod, readonly Pod[], string]>([
    [asking({ cpu: '2001m' }), [], "Node didn't have enough resource: cpu, requested: 2001, used: 0, capacity: 2000"],
    [
      asking({ cpu: '500m' }),
      [asking({ cpu: '1' }), asking({ cpu: '600m' })],
      "Node didn't have enough resource: cpu, requested: 500, used: 1600, capacity: 2000",
    ],
    [
      asking({ memory: '4Gi', cpu: '1' }),
      [asking({ memory: '1' })],
      "Node didn't have enough resource: memory, requested: 4294967296, used: 1, capacity: 4294967296",
    ],
    [asking({ 'example.com/gpu': '2' }), [], "Node didn't have enough resource: example.com/gpu, requested: 2, used: 0, capacity: 1"],
    [pod(), [pod(), pod(), pod()], "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3"],
  ])('that it has no room for', (candidate, others, message) => {
    const refused = reason(candidate, others);
    expect(refused?.message).toBe(message);
    expect(refused?.reason).toBe(`OutOf${/resource: ([^,]+)/.exec(message)?.[1]}`);
  });

  test('whose selector or affinity means others', () => {
    const expected = { reason: 'NodeAffinity', message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector" };
    const term = (values: string[]) => ({ nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values }] }] });
    const affinity = (...values: string[]) => ({ nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: term(values) } });
    expect(reason(pod({ nodeSelector: { zone: 'b' } }))).toEqual(expected);
    expect(reason(pod({ affinity: affinity('b', 'c') }))).toEqual(expected);
    expect(reason(pod({ nodeSelector: { zone: 'a' }, affinity: affinity('a') }))).toBeUndefined();
  });

  test('whose port another one has', () => {
    const port = (hostPort: number, hostIP?: string, protocol = 'TCP') =>
      pod({ containers: [{ name: 'app', resources: {}, ports: [{ containerPort: 80, hostPort, protocol, ...(hostIP === undefined ? {} : { hostIP }) }] }] });
    const expected = { reason: 'NodePorts', message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports" };
    expect(reason(port(80), [port(80)])).toEqual(expected);
    expect(reason(port(80, '1.1.1.1'), [port(80, '0.0.0.0')])).toEqual(expected);
    expect(reason(port(80, '1.1.1.1'), [port(80, '2.2.2.2')])).toBeUndefined();
    expect(reason(port(80), [port(80, undefined, 'UDP'), port(81)])).toBeUndefined();
  });

  test('that does not tolerate being thrown out', () => {
    const tainted = node({
      taints: [
        { key: 'gone', effect: 'NoExecute' },
        { key: 'full', effect: 'NoSchedule' },
      ],
    });
    expect(reason(pod(), [], tainted)).toEqual({
      reason: 'TaintToleration',
      message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    });
    expect(reason(pod({ tolerations: [{ key: 'gone', operator: 'Exists' }] }), [], tainted)).toBeUndefined();
  });

  test('that is for another system', () => {
    expect(reason(pod({ os: { name: 'windows' } }))?.reason).toBe('PodOSNotSupported');
    expect(reason(pod({}, { 'kubernetes.io/os': 'windows' }))?.reason).toBe('PodOSSelectorNodeLabelDoesNotMatch');
  });
});

test('extended resources that the node does not have are ignored', () => expect(reason(asking({ 'example.com/unknown': '7' }))).toBeUndefined());

test('without its object the node goes by what it knows of itself', () => {
  expect(rejection({ pod: asking({ cpu: '3' }), host, node: undefined, others: [] })?.reason).toBe('OutOfcpu');
  expect(rejection({ pod: asking({ cpu: '2' }), host, node: undefined, others: [] })).toBeUndefined();
});
