import { describe, expect, test } from 'vitest';
import type { NetworkPolicy, NetworkPolicySpec, Pod } from '../../api/generated/types.ts';
import { policyRules } from './policy-rules.ts';

const pod = (
  name: string,
  ip: string,
  over: { readonly namespace?: string; readonly labels?: Record<string, string>; readonly hostNetwork?: boolean } = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: over.namespace ?? 'shop', uid: name, labels: over.labels ?? { app: name } },
  spec: {
    nodeName: 'here',
    ...(over.hostNetwork === undefined ? {} : { hostNetwork: over.hostNetwork }),
    containers: [{ name: 'c', resources: {}, ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
  },
  status: { podIP: ip, phase: 'Running' },
});
const policy = (spec: Partial<NetworkPolicySpec>): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'p', namespace: 'shop' },
  spec: { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Ingress'], ...spec },
});

const pods = [
  pod('web', '10.0.0.1'),
  pod('client', '10.0.0.2'),
  pod('far', '10.0.1.1', { namespace: 'ops', labels: { app: 'client' } }),
  pod('host', '192.0.2.1', { hostNetwork: true }),
];

/** Chains, and elements of sets; hashes of one character. */
function rulesOf(...policies: readonly NetworkPolicy[]) {
  const part = policyRules({
    namespace: 'shop',
    policies,
    pods,
    namespaceLabels: (namespace) => ({ team: namespace }),
    localPods: pods.filter(({ metadata }) => metadata.namespace === 'shop'),
    sha256: (text) => (text === 'web' ? 'W' : text === 'client' ? 'C' : 'P'),
  });
  return part === undefined
    ? undefined
    : Object.fromEntries([...(part.chains ?? []), ...[...(part.elements ?? [])].map(([set, keys]) => [set, Object.fromEntries(keys)] as const)]);
}

describe('a NetworkPolicy', () => {
  test('looks for the peers of a rule once, however many pods it selects', () => {
    let asked = 0;
    const namespaceLabels = () => {
      asked++;
      return {};
    };
    const peers = [{ namespaceSelector: {} }];
    const open = policy({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: peers }],
      egress: [{ to: peers, ports: [{ port: 'http' }] }],
    });
    policyRules({ namespace: 'shop', policies: [open], pods, namespaceLabels, localPods: pods.slice(0, 2), sha256: (text) => text });
    // For ingress, for egress and for the ports of egress: once for each of the three pods that may be peers.
    expect(asked).toBe(9);
  });

  test('without rules isolates the pods that it selects, in its directions', () => {
    expect(rulesOf(policy({}))).toEqual({ 'ingress-W': ['drop'], 'ingress-policies': { '10.0.0.1': 'jump ingress-W' } });
    expect(rulesOf(policy({ policyTypes: ['Egress'] }))).toEqual({ 'egress-W': ['drop'], 'egress-policies': { '10.0.0.1': 'jump egress-W' } });
    expect(rulesOf(policy({ podSelector: {} }))).toMatchObject({ 'ingress-policies': { '10.0.0.1': 'jump ingress-W', '10.0.0.2': 'jump ingress-C' } });
    expect(rulesOf(policy({ podSelector: { matchLabels: { app: 'nothing' } } }))).toBeUndefined();
    expect(rulesOf()).toBeUndefined();
  });

  test('with an empty rule permits everything', () => expect(rulesOf(policy({ ingress: [{}] }))).toMatchObject({ 'ingress-W': ['return', 'drop'] }));

  test('permits pods of its namespace, of others, or of both selectors together', () => {
    const peers = (from: NonNullable<NonNullable<NetworkPolicySpec['ingress']>[number]['from']>) => rulesOf(policy({ ingress: [{ from }] }));
    const podSelector = { matchLabels: { app: 'client' } };
    expect(peers([{ podSelector }])).toMatchObject({ 'ingress-W': ['ip saddr @ingress-P-0 return', 'drop'], 'ingress-P-0': { '10.0.0.2': '' } });
    expect(peers([{ namespaceSelector: { matchLabels: { team: 'ops' } } }])['ingress-P-0' as never]).toEqual({ '10.0.1.1': '' });
    expect(peers([{ namespaceSelector: {}, podSelector }])['ingress-P-0' as never]).toEqual({ '10.0.0.2': '', '10.0.1.1': '' });
    // A pod on the host's network is no peer, and no pod to isolate.
    expect(peers([{ namespaceSelector: {} }])['ingress-P-0' as never]).not.toHaveProperty(['192.0.2.1']);
  });

  test('permits networks, but for parts of them', () => {
    const from = [{ ipBlock: { cidr: '10.1.0.0/16', except: ['10.1.2.0/24', '10.1.3.0/24'] } }, { ipBlock: { cidr: 'fd00::/8' } }];
    expect(rulesOf(policy({ ingress: [{ from }] }))).toMatchObject({
      'ingress-W': ['ip saddr 10.1.0.0/16 ip saddr != 10.1.2.0/24 ip saddr != 10.1.3.0/24 return', 'drop'],
    });
    // Of the other family alone: nothing is permitted.
    expect(rulesOf(policy({ ingress: [{ from: [{ ipBlock: { cidr: 'fd00::/8' } }] }] }))).toMatchObject({ 'ingress-W': ['drop'] });
  });

  test('permits ports by number, range and name', () => {
    const ports = [
      { port: 80 },
      { protocol: 'UDP', port: 53 },
      { protocol: 'TCP', port: 1000, endPort: 2000 },
      { port: 'http' },
      { port: 'missing' },
      { protocol: 'SCTP' },
    ];
    expect(rulesOf(policy({ ingress: [{ ports }] }))).toMatchObject({
      'ingress-W': ['tcp dport 80 return', 'udp dport 53 return', 'tcp dport 1000-2000 return', 'meta l4proto sctp return', 'tcp dport 8080 return', 'drop'],
    });
    expect(rulesOf(policy({ ingress: [{ ports: [{ port: 'missing' }] }] }))).toMatchObject({ 'ingress-W': ['drop'] });
  });

  test('on the way out, a port by name is that of each peer', () => {
    const egress = [{ to: [{ podSelector: { matchLabels: { app: 'client' } } }], ports: [{ port: 'http' }] }];
    expect(rulesOf(policy({ policyTypes: ['Egress'], egress }))).toMatchObject({
      'egress-W': ['ip daddr . meta l4proto . th dport @egress-P-0-ports return', 'drop'],
      'egress-P-0-ports': { '10.0.0.2 . tcp . 8080': '' },
    });
  });
});

test('a policy with too many pairs of peer and port permits less, and is named', () => {
  const blocks = Array.from({ length: 200 }, (_, i) => ({ ipBlock: { cidr: `10.1.${i}.0/24` } }));
  const ports = Array.from({ length: 200 }, (_, i) => ({ protocol: 'TCP', port: i + 1 }));
  const large = policy({
    ingress: [
      { from: blocks.slice(0, 2), ports: ports.slice(0, 2) },
      { from: blocks, ports },
    ],
  });
  const part = policyRules({ namespace: 'shop', policies: [large], pods, namespaceLabels: () => ({}), localPods: pods.slice(0, 1), sha256: (text) => text });
  expect([...(part?.tooLarge ?? [])]).toEqual([large]);
  expect([...(part?.chains?.values() ?? [])].map((rules) => rules.length)).toEqual([5]);
});
