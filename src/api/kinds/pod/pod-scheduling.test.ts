import { describe, expect, test } from 'vitest';
import { refusal } from '../try-kind.ts';
import { podKind } from './pod.ts';

/** What is said of a pod with this in its spec; 'spec.' is left out. */
const said = (spec: object, metadata: object = {}): string[] =>
  refusal(podKind, { metadata: { name: 'web', ...metadata }, spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec } }).map((line) =>
    line.replace('spec.', ''),
  );

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

describe('affinity', () => {
  const nodes = (...nodeSelectorTerms: object[]): string[] => said({ affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms } } } });
  const at = `affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;

  test('to nodes', () => {
    expect(nodes()).toEqual([`FieldValueRequired ${at}: Required value: must have at least one node selector term`]);
    expect(
      nodes({
        matchExpressions: [
          { key: 'a', operator: 'In' },
          { key: 'b', operator: 'Gt', values: ['1', '2'] },
          { key: 'c', operator: 'Like' },
        ],
      }),
    ).toEqual([
      `FieldValueRequired ${at}[0].matchExpressions[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
      `FieldValueRequired ${at}[0].matchExpressions[1].values: Required value: must be specified single value when \`operator\` is 'Lt' or 'Gt'`,
      `FieldValueInvalid ${at}[0].matchExpressions[2].operator: Invalid value: "Like": not a valid selector operator`,
    ]);
    expect(nodes({ matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['x'] }] })).toEqual([
      `FieldValueInvalid ${at}[0].matchFields[0].key: Invalid value: "metadata.uid": not a valid field selector key`,
    ]);
  });

  test('to other pods', () => {
    const podAntiAffinity = { [PREFERRED]: [{ weight: 101, podAffinityTerm: { topologyKey: '', namespaces: ['A'], matchLabelKeys: ['app'] } }] };
    const lines = said({ affinity: { podAntiAffinity } });
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      `FieldValueInvalid affinity.podAntiAffinity.${PREFERRED}[0].weight`,
      `FieldValueInvalid affinity.podAntiAffinity.${PREFERRED}[0].podAffinityTerm.namespace`,
      `FieldValueForbidden affinity.podAntiAffinity.${PREFERRED}[0].podAffinityTerm.matchLabelKeys`,
      `FieldValueRequired affinity.podAntiAffinity.${PREFERRED}[0].podAffinityTerm.topologyKey`,
      `FieldValueInvalid affinity.podAntiAffinity.${PREFERRED}[0].podAffinityTerm.topologyKey`,
      `FieldValueInvalid affinity.podAntiAffinity.${PREFERRED}[0].podAffinityTerm.topologyKey`,
    ]);
  });

  test('a key by which pods are told apart is not selected by as well', () => {
    const term = { topologyKey: 'zone', matchLabelKeys: ['app'], labelSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } };
    expect(said({ affinity: { podAffinity: { [REQUIRED]: [term] } } }, { labels: { app: 'web' } })).toEqual([
      `FieldValueInvalid affinity.podAffinity.${REQUIRED}[0][0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector`,
    ]);
    const both = { topologyKey: 'zone', matchLabelKeys: ['app'], mismatchLabelKeys: ['app'], labelSelector: {} };
    expect(said({ affinity: { podAffinity: { [REQUIRED]: [both] } } })).toEqual([
      `FieldValueInvalid affinity.podAffinity.${REQUIRED}[0].matchLabelKeys[0]: Invalid value: "app": exists in both matchLabelKeys and mismatchLabelKeys`,
    ]);
  });
});

describe('tolerations', () => {
  const tolerate = (toleration: object): string[] => said({ tolerations: [toleration] });

  test.each<[string, object, string[]]>([
    ['everything', { operator: 'Exists' }, []],
    ['a key for a while', { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }, []],
    [
      'a while, without an end',
      { key: 'a', operator: 'Exists', tolerationSeconds: 5 },
      ['FieldValueInvalid tolerations[0].effect: Invalid value: "": effect must be \'NoExecute\' when `tolerationSeconds` is set'],
    ],
    [
      'nothing in particular',
      {},
      [
        'FieldValueInvalid tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ],
    ],
    [
      'a value that need not be',
      { key: 'a', operator: 'Exists', value: 'b' },
      ['FieldValueInvalid tolerations[0].operator: Invalid value: "b": value must be empty when `operator` is \'Exists\''],
    ],
    [
      'numbers',
      { key: 'a', operator: 'Gt', value: '1' },
      ['FieldValueNotSupported tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"'],
    ],
    [
      'by an operator that is none',
      { key: 'a', operator: 'Is' },
      ['FieldValueNotSupported tolerations[0].operator: Unsupported value: "Is": supported values: "Equal", "Exists"'],
    ],
    [
      'an effect that is none',
      { key: 'a', effect: 'Explode' },
      ['FieldValueNotSupported tolerations[0].effect: Unsupported value: "Explode": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'],
    ],
  ])('of %s', (_, toleration, expected) => {
    expect(tolerate(toleration)).toEqual(expected);
  });
});

test('constraints on the spread', () => {
  const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} };
  expect(said({ topologySpreadConstraints: [constraint] })).toEqual([]);
  expect(said({ topologySpreadConstraints: [constraint, { ...constraint, minDomains: 0 }] })).toEqual([
    'FieldValueDuplicate topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"',
    'FieldValueInvalid topologySpreadConstraints[1].minDomains: Invalid value: 0: must be greater than zero',
  ]);
  expect(said({ topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Hope', minDomains: 1, nodeTaintsPolicy: 'Maybe' }] })).toEqual([
    'FieldValueInvalid topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
    'FieldValueRequired topologySpreadConstraints[0].topologyKey: Required value: can not be empty',
    'FieldValueNotSupported topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Hope": supported values: "DoNotSchedule", "ScheduleAnyway"',
    'FieldValueInvalid topologySpreadConstraints[0].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not Hope',
    'FieldValueNotSupported topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "Maybe": supported values: "Honor", "Ignore"',
  ]);
});

test('gates', () => {
  const gates = { schedulingGates: [{ name: 'a' }, { name: 'a' }] };
  expect(said(gates)).toEqual(['FieldValueDuplicate schedulingGates[1]: Duplicate value: "a"']);
  expect(said({ schedulingGates: [{ name: 'a' }], nodeName: 'n1' })).toEqual([
    'FieldValueForbidden nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
  ]);
});

test('policies, names and deadlines', () => {
  expect(
    said({ restartPolicy: 'Sometimes', dnsPolicy: 'Mine', preemptionPolicy: 'Maybe', activeDeadlineSeconds: 0, hostname: 'a.b', priorityClassName: 'A' }).map(
      (line) => line.replace(/(: a lowercase RFC 1123 subdomain).*/, '$1'),
    ),
  ).toEqual([
    'FieldValueNotSupported restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
    'FieldValueNotSupported dnsPolicy: Unsupported value: "Mine": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    'FieldValueInvalid activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
    'FieldValueInvalid hostname: Invalid value: "a.b": must not contain dots',
    'FieldValueInvalid priorityClassName: Invalid value: "A": a lowercase RFC 1123 subdomain',
    'FieldValueNotSupported preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"',
  ]);
});

describe('names on the network', () => {
  test('servers and searches', () => {
    expect(said({ dnsPolicy: 'None' })).toEqual(['FieldValueRequired dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None']);
    expect(said({ dnsPolicy: 'None', dnsConfig: {} })).toEqual([
      'FieldValueRequired dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
    ]);
    expect(
      said({ dnsConfig: { nameservers: ['1.1.1.1', '8.8.8.8', 'x', '::1'], searches: ['.', '_a.b.', 'C'], options: [{ name: '' }] } }).map((line) =>
        line.slice(0, 110),
      ),
    ).toEqual([
      'FieldValueInvalid dnsConfig.nameservers: Invalid value: ["1.1.1.1","8.8.8.8","x","::1"]: must not have more than 3 nameservers'.slice(0, 110),
      'FieldValueInvalid dnsConfig.nameservers[2]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'.slice(0, 110),
      'FieldValueInvalid dnsConfig.searches[2]: Invalid value: "C": a lowercase RFC 1123 subdomain must consist of lower case'.slice(0, 110),
      'FieldValueRequired dnsConfig.options[0]: Required value: must not be empty',
    ]);
  });

  test('aliases and the pod’s own name', () => {
    expect(said({ hostAliases: [{ ip: '1.2.3', hostnames: ['a_b'] }] }).map((line) => line.split(':')[0])).toEqual([
      'FieldValueInvalid hostAliases[0].ip',
      'FieldValueInvalid hostAliases[0].hostnames[0]',
    ]);
    expect(said({ hostnameOverride: 'a'.repeat(65), setHostnameAsFQDN: true, hostNetwork: true })).toEqual([
      'FieldValueForbidden hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true',
      'FieldValueForbidden hostnameOverride: Forbidden: may not be specified when hostNetwork is true',
      'FieldValueTooLong hostnameOverride: Too long: may not be more than 64 bytes',
    ]);
  });
});

test('annotations that mean something', () => {
  const annotations = {
    'kubernetes.io/config.mirror': 'x',
    'controller.kubernetes.io/pod-deletion-cost': '+1',
    'seccomp.security.alpha.kubernetes.io/pod': 'odd',
    'container.apparmor.security.beta.kubernetes.io/other': 'odd',
  };
  expect(said({}, { annotations })).toEqual([
    'FieldValueInvalid metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set nodeName if mirror pod annotation is set',
    'FieldValueInvalid metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer',
    'FieldValueInvalid metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "odd": must be a valid seccomp profile',
    'FieldValueInvalid metadata.annotations[container.apparmor.security.beta.kubernetes.io/other]: Invalid value: "other": container not found',
    'FieldValueInvalid metadata.annotations[container.apparmor.security.beta.kubernetes.io/other]: Invalid value: "odd": invalid AppArmor profile name: "odd"',
  ]);
});
