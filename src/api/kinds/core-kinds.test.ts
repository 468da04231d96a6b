import { describe, expect, test } from 'vitest';
import type { Kind } from '../kind.ts';
import type { KubeObject } from '../object.ts';
import { configMapKind } from './core/config-map.ts';
import { leaseKind } from './coordination/lease.ts';
import { limitRangeKind } from './core/limit-range.ts';
import { namespaceKind } from './core/namespace.ts';
import { nodeKind } from './core/node.ts';
import { podDisruptionBudgetKind } from './policy/pod-disruption-budget.ts';
import { priorityClassKind } from './scheduling/priority-class.ts';
import { resourceQuotaKind } from './core/resource-quota.ts';
import { secretKind } from './core/secret.ts';
import { serviceAccountKind } from './core/service-account.ts';
import { created, type Raw, refusal, row, statusRefusal, updated, updateRefusal } from './try-kind.ts';

type Case = readonly [why: string, raw: Raw, ...causes: (string | RegExp)[]];

function refuses<T extends KubeObject>(kind: Kind<T>, cases: readonly Case[]): void {
  for (const [why, raw, ...causes] of cases) {
    test(why, () => expect(refusal(kind, raw)).toEqual(causes.map((cause) => (typeof cause === 'string' ? cause : expect.stringMatching(cause)))));
  }
}

const named = (name: string, more: Raw = {}): Raw => ({ metadata: { name }, ...more });
const fixed = 'Forbidden: field is immutable when `immutable` is set';

describe('a namespace', () => {
  test('is active, labelled with its name, and kept by Kubernetes’ finalizer', () => {
    expect(created(namespaceKind, named('team'))).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'team' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  });
  test('cannot get rid of its label or its finalizers', () => {
    const old = created(namespaceKind, named('team'));
    const change = updated(namespaceKind, old, (object) => Object.assign(object, { spec: {}, metadata: { ...object.metadata, labels: {} } }));
    expect([change.metadata.labels, change.spec]).toEqual([{ 'kubernetes.io/metadata.name': 'team' }, { finalizers: ['kubernetes'] }]);
  });
  refuses(namespaceKind, [
    ['is named by a label', named('a.b'), 'FieldValueInvalid metadata.name: Invalid value: "a.b": must not contain dots'],
    [
      'has finalizers with domains',
      named('team', { spec: { finalizers: ['odd'] } }),
      'FieldValueInvalid spec.finalizers: Invalid value: "odd": name is neither a standard finalizer name nor is it fully qualified',
    ],
  ]);
  test('is Terminating if and only if it is deleted', () => {
    const old = created(namespaceKind, named('team'));
    expect(statusRefusal(namespaceKind, old, ({ status }) => void (status.phase = 'Terminating'))).toEqual([
      'FieldValueInvalid status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
    ]);
    old.metadata.deletionTimestamp = '2026-03-01T11:30:00Z';
    expect(statusRefusal(namespaceKind, old, ({ status }) => void (status.phase = 'Terminating'))).toEqual([]);
  });
});

describe('a config map', () => {
  refuses(configMapKind, [
    [
      'has keys that can be file names',
      named('c', { data: { '..': 'x', 'no key': 'y' } }),
      'FieldValueInvalid data[..]: Invalid value: "..": must not be \'..\'',
      /^FieldValueInvalid data\[no key\]: Invalid value: "no key": a valid config key/,
    ],
    [
      'has each key once',
      named('c', { data: { a: 'x' }, binaryData: { a: 'eA==' } }),
      'FieldValueInvalid data[a]: Invalid value: "a": duplicate of key present in binaryData',
    ],
    [
      'holds at most 1 MiB',
      named('c', { data: { a: 'x'.repeat(1_048_575) }, binaryData: { b: 'eHg=' } }),
      'FieldValueTooLong : Too long: may not be more than 1048576 bytes',
    ],
  ]);
  test('can be fixed for ever', () => {
    const old = created(configMapKind, named('c', { data: { a: 'x' }, immutable: true }));
    expect(updateRefusal(configMapKind, old, (map) => Object.assign(map, { data: {}, immutable: false }))).toEqual([
      `FieldValueForbidden immutable: ${fixed}`,
      `FieldValueForbidden data: ${fixed}`,
    ]);
    expect(row(configMapKind, old).Data).toBe(1);
  });
});

describe('a secret', () => {
  const b64 = (text: string): string => Buffer.from(text).toString('base64');
  test('keeps what is written as text as data', () => {
    const made = created(secretKind, named('s', { data: { a: 'eA==', b: 'eA==' }, stringData: { b: 'ü' } }));
    expect(made).toMatchObject({ type: 'Opaque', data: { a: 'eA==', b: b64('ü') } });
    expect(made).not.toHaveProperty('stringData');
  });
  refuses(secretKind, [
    ['holds at most 1 MiB', named('s', { data: { a: 'AAAA'.repeat(349_526) } }), 'FieldValueTooLong data: Too long: may not be more than 1048576 bytes'],
    [
      'for a service account names it',
      named('s', { type: 'kubernetes.io/service-account-token' }),
      'FieldValueRequired metadata.annotations[kubernetes.io/service-account.name]: Required value',
    ],
    ['for Docker has its file', named('s', { type: 'kubernetes.io/dockerconfigjson' }), 'FieldValueRequired data[.dockerconfigjson]: Required value'],
    [
      'for Docker has a file in JSON',
      named('s', { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '{"a":' } }),
      'FieldValueInvalid data[.dockercfg]: Invalid value: "<secret contents redacted>": unexpected end of JSON input',
    ],
    [
      'for Docker has an object in its file',
      named('s', { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '[]' } }),
      'FieldValueInvalid data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      'for basic authentication has a name or a password',
      named('s', { type: 'kubernetes.io/basic-auth' }),
      'FieldValueRequired data[username]: Required value',
      'FieldValueRequired data[password]: Required value',
    ],
    [
      'for SSH has a key',
      named('s', { type: 'kubernetes.io/ssh-auth', stringData: { 'ssh-privatekey': '' } }),
      'FieldValueRequired data[ssh-privatekey]: Required value',
    ],
    [
      'for TLS has both halves',
      named('s', { type: 'kubernetes.io/tls' }),
      'FieldValueRequired data[tls.crt]: Required value',
      'FieldValueRequired data[tls.key]: Required value',
    ],
  ]);
  test('keeps its type, and all of it if it is fixed', () => {
    const old = created(secretKind, named('s', { immutable: true, data: { a: 'eA==' } }));
    expect(updateRefusal(secretKind, old, (secret) => Object.assign(secret, { type: 'other', data: {} }))).toEqual([
      'FieldValueInvalid type: Invalid value: "other": field is immutable',
      `FieldValueForbidden data: ${fixed}`,
    ]);
  });
  test('for TLS is looked at', () => {
    const pem = (type: string): string => `-----BEGIN ${type}-----\nAAAA\n-----END ${type}-----\n`;
    const warn = (crt: string, key: string): readonly string[] | undefined =>
      secretKind.warnings?.(created(secretKind, named('s', { type: 'kubernetes.io/tls', stringData: { 'tls.crt': crt, 'tls.key': key } })), undefined);
    expect(warn(pem('CERTIFICATE'), pem('EC PRIVATE KEY'))).toEqual([]);
    expect(warn('x', 'y')).toEqual(['tls: failed to find any PEM data in certificate input']);
    expect(warn(pem('PRIVATE KEY'), pem('CERTIFICATE'))).toEqual([
      'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
    ]);
  });
});

test('a service account refers to secrets by name alone', () => {
  const account = created(serviceAccountKind, named('robot', { secrets: [{ name: 's', namespace: 'x', kind: 'Secret' }] }));
  expect(account.secrets).toEqual([{ name: 's' }]);
});

describe('a limit range', () => {
  const limits = (...items: Raw[]): Raw => named('l', { spec: { limits: items } });
  test('fills in what follows', () => {
    const made = created(limitRangeKind, limits({ type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi', cpu: '1' }, default: { memory: '5Mi' } }));
    expect(made.spec.limits?.[0]).toMatchObject({ default: { cpu: '2', memory: '5Mi' }, defaultRequest: { cpu: '2', memory: '5Mi' } });
  });
  refuses(limitRangeKind, [
    [
      'limits a known type',
      limits({ type: 'Odd' }),
      'FieldValueInvalid spec.limits[0].type: Invalid value: "Odd": must be a standard limit type or fully qualified',
    ],
    ['limits each type once', limits({ type: 'Container' }, { type: 'Container' }), 'FieldValueDuplicate spec.limits[1].type: Duplicate value: "Container"'],
    [
      'limits the storage of claims',
      limits({ type: 'PersistentVolumeClaim', max: { cpu: '1' } }),
      'FieldValueRequired spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
    ],
    [
      'has no defaults for pods',
      limits({ type: 'Pod', default: { cpu: '1' } }),
      "FieldValueForbidden spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
    ],
    [
      'names resources of containers',
      limits({ type: 'Pod', max: { storage: '1', odd: '1' } }),
      'FieldValueInvalid spec.limits[0].max[odd]: Invalid value: "odd": must be a standard resource type or fully qualified',
      'FieldValueInvalid spec.limits[0].max[odd]: Invalid value: "odd": must be a standard resource for containers',
      'FieldValueInvalid spec.limits[0].max[storage]: Invalid value: "storage": must be a standard resource for containers',
    ],
    [
      'is in order',
      limits({
        type: 'Container',
        min: { cpu: '2' },
        max: { cpu: '1' },
        default: { cpu: '3' },
        defaultRequest: { cpu: '4' },
        maxLimitRequestRatio: { cpu: '800m' },
      }),
      'FieldValueInvalid spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
      'FieldValueInvalid spec.limits[0].defaultRequest[cpu]: Invalid value: "4": default request value 4 is greater than max value 1',
      'FieldValueInvalid spec.limits[0].defaultRequest[cpu]: Invalid value: "4": default request value 4 is greater than default limit value 3',
      'FieldValueInvalid spec.limits[0].default[cpu]: Invalid value: "1": default value 3 is greater than max value 1',
      'FieldValueInvalid spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "800m": ratio 800m is less than 1',
      'FieldValueInvalid spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "800m": ratio 800m is greater than max/min = 0.500000',
    ],
  ]);
});

describe('a quota', () => {
  const quota = (spec: Raw): Raw => named('q', { spec });
  refuses(resourceQuotaKind, [
    [
      'counts what can be counted, in whole numbers',
      quota({ hard: { storage: '1', pods: '1500m', 'requests.storage': '-1', 'count/widgets.example.com': '5', 'requests.hugepages-2Mi': '1' } }),
      'FieldValueInvalid spec.hard[pods]: Invalid value: "1500m": must be an integer',
      'FieldValueInvalid spec.hard[requests.storage]: Invalid value: "-1": must be greater than or equal to 0',
      'FieldValueInvalid spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
    ],
    [
      'has scopes that fit',
      quota({ hard: { services: '1', secrets: '1' }, scopes: ['Odd', 'BestEffort', 'NotBestEffort'] }),
      'FieldValueInvalid spec.scopes: Invalid value: ["Odd","BestEffort","NotBestEffort"]: unsupported scope',
      ...Array<string>(4).fill('FieldValueInvalid spec.scopes: Invalid value: ["Odd","BestEffort","NotBestEffort"]: unsupported scope applied to resource'),
      'FieldValueInvalid spec.scopes: Invalid value: ["Odd","BestEffort","NotBestEffort"]: conflicting scopes',
    ],
    [
      'selects scopes that fit',
      quota({
        scopeSelector: {
          matchExpressions: [
            { scopeName: 'Terminating', operator: 'In' },
            { scopeName: 'PriorityClass', operator: 'Odd' },
          ],
        },
      }),
      /^FieldValueInvalid spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be 'Exists' when scope is any of/,
      "FieldValueRequired spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      'FieldValueInvalid spec.scopeSelector.matchExpressions.operator: Invalid value: "Odd": not a valid selector operator',
    ],
  ]);
  test('keeps its scopes, in whatever order', () => {
    const old = created(resourceQuotaKind, quota({ scopes: ['BestEffort', 'Terminating'] }));
    expect(updateRefusal(resourceQuotaKind, old, ({ spec }) => void spec.scopes?.reverse())).toEqual([]);
    expect(updateRefusal(resourceQuotaKind, old, ({ spec }) => void spec.scopes?.pop())).toEqual([
      'FieldValueInvalid spec.scopes: Invalid value: ["BestEffort"]: field is immutable',
    ]);
  });
  test('shows requests and limits apart, and warns if they contradict', () => {
    const made = created(resourceQuotaKind, quota({ hard: { cpu: '2', 'limits.cpu': '1' } }));
    expect(resourceQuotaKind.warnings?.(made, undefined)).toEqual(['ResourceQuota cpu (2) should be less than limits.cpu (1)']);
    made.status = { hard: { pods: '5', cpu: '2', 'limits.cpu': '1' }, used: { pods: '1' } };
    expect(row(resourceQuotaKind, made)).toMatchObject({ Request: 'cpu: 0/2, pods: 1/5', Limit: 'limits.cpu: 0/1' });
  });
});

describe('a node', () => {
  const node = (more: Raw): Raw => named('n1', more);
  test('can allocate all it has, and has one range or several', () => {
    const made = created(nodeKind, node({ spec: { podCIDR: '10.0.0.0/24' }, status: { capacity: { cpu: '4' } } }));
    expect([made.status.allocatable, made.spec.podCIDRs]).toEqual([{ cpu: '4' }, ['10.0.0.0/24']]);
  });
  refuses(nodeKind, [
    [
      'has taints that are some, each once',
      node({
        spec: {
          taints: [
            { key: 'a', effect: 'NoSchedule' },
            { key: 'a', effect: 'NoSchedule' },
            { key: 'b', value: 'no good', effect: 'Odd' },
          ],
        },
      }),
      'FieldValueDuplicate metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
      /^FieldValueInvalid metadata.taints\[2\].value: Invalid value: "no good": a valid label/,
      'FieldValueNotSupported metadata.taints[2].effect: Unsupported value: "Odd": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
    [
      'has whole devices and features in order',
      node({ status: { capacity: { 'example.com/gpu': '500m' }, allocatable: { cpu: '-1' }, declaredFeatures: ['B', 'A', 'A'] } }),
      'FieldValueInvalid status.capacity.example.com/gpu: Invalid value: "500m": must be an integer',
      'FieldValueInvalid status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
      'FieldValueInvalid status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
      'FieldValueDuplicate status.declaredFeatures[2]: Duplicate value: "A"',
    ],
    [
      'has one range per family',
      node({ spec: { podCIDRs: ['10.0.0.0/24', '10.0.1.1/24'] } }),
      'FieldValueInvalid spec.podCIDRs[1]: Invalid value: "10.0.1.1/24": must not have bits set beyond the prefix length',
      'FieldValueInvalid spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.1/24"]: may specify no more than one CIDR for each IP family',
    ],
  ]);
  test('keeps what identifies it', () => {
    const old = created(nodeKind, node({ spec: { podCIDRs: ['10.0.0.0/24'], providerID: 'p' } }));
    expect(
      updateRefusal(nodeKind, old, ({ spec }) =>
        Object.assign(spec, { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24'], providerID: 'q', unschedulable: true }),
      ),
    ).toEqual([
      'FieldValueForbidden spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'FieldValueForbidden spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ]);
    const address = { type: 'InternalIP', address: '10.0.0.1' };
    expect(statusRefusal(nodeKind, old, ({ status }) => void (status.addresses = [address, address]))).toEqual([
      'FieldValueDuplicate status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"10.0.0.1"}',
    ]);
  });
  test('shows how it is and what it is for', () => {
    const made = created(nodeKind, {
      metadata: { name: 'n1', labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'disk', 'node-role.kubernetes.io/': '' } },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        nodeInfo: { kernelVersion: '6.1', architecture: 'amd64', kubeletVersion: 'v1.36.4' },
      },
    });
    expect(row(nodeKind, made)).toEqual({
      Name: 'n1',
      Status: 'Ready,SchedulingDisabled',
      Roles: 'disk,worker',
      Age: '60m',
      Version: 'v1.36.4',
      'Internal-IP': '10.0.0.1',
      'External-IP': '<none>',
      'OS-Image': '<unknown>',
      'Kernel-Version': '6.1 (amd64)',
      'Container-Runtime': '<unknown>',
    });
    expect(row(nodeKind, created(nodeKind, named('n2')))).toMatchObject({ Status: 'Unknown', Roles: '<none>' });
  });
});

describe('a lease', () => {
  refuses(leaseKind, [
    [
      'lasts some time',
      named('l', { spec: { leaseDurationSeconds: 0, leaseTransitions: -1, strategy: 'Odd' } }),
      'FieldValueInvalid spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'FieldValueInvalid spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ],
    ['may have any finalizer', { metadata: { name: 'l', finalizers: ['mine'] } }],
  ]);
});

describe('a priority class', () => {
  const priority = (name: string, more: Raw): Raw => named(name, more);
  refuses(priorityClassKind, [
    [
      'is not above the system',
      priority('high', { value: 1_000_000_001 }),
      'FieldValueForbidden value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
    ],
    [
      'does not claim to be the system',
      priority('system-mine', { value: 1 }),
      "FieldValueForbidden metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class",
    ],
    ['of the system has its value', priority('system-node-critical', { value: 1 }), /error: value of system-node-critical PriorityClass must be 2000001000$/],
    [
      'preempts or not',
      priority('p', { value: 1, preemptionPolicy: 'Odd' }),
      'FieldValueNotSupported preemptionPolicy: Unsupported value: "Odd": supported values: "PreemptLowerPriority", "Never"',
    ],
  ]);
  test('stays as high as it is', () => {
    const old = created(priorityClassKind, priority('p', { value: 1 }));
    expect(old).toMatchObject({ preemptionPolicy: 'PreemptLowerPriority', metadata: { generation: 1 } });
    expect(updateRefusal(priorityClassKind, old, (object) => Object.assign(object, { value: 2, preemptionPolicy: 'Never', description: 'x' }))).toEqual([
      'FieldValueForbidden value: Forbidden: may not be changed in an update.',
      'FieldValueInvalid preemptionPolicy: Invalid value: "Never": field is immutable',
    ]);
  });
});

describe('a budget', () => {
  refuses(podDisruptionBudgetKind, [
    [
      'says one thing, and a share of at most all',
      named('b', { spec: { minAvailable: '101%', maxUnavailable: 'half' } }),
      'FieldValueInvalid spec: Invalid value: {"MinAvailable":"101%","Selector":null,"MaxUnavailable":"half","UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
      'FieldValueInvalid spec.minAvailable: Invalid value: "101%": must not be greater than 100%',
      /^FieldValueInvalid spec.maxUnavailable: Invalid value: "half": a valid percent string/,
    ],
    ['can have any name that fits into a path', named('Odd_Name', {})],
    ['has a name that fits into a path', named('a/b', {}), 'FieldValueInvalid metadata.name: Invalid value: "a/b": may not contain \'/\''],
  ]);
  test('counts nothing below zero', () => {
    const old = created(podDisruptionBudgetKind, named('b', { spec: { minAvailable: 1 } }));
    expect(row(podDisruptionBudgetKind, old)).toMatchObject({ 'Min Available': '1', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 0 });
    expect(
      statusRefusal(podDisruptionBudgetKind, old, ({ status }) => Object.assign(status, { expectedPods: -1, conditions: [{ type: 'a', status: 'Odd' }] })),
    ).toEqual([
      'FieldValueNotSupported status.conditions[0].status: Unsupported value: "Odd": supported values: "False", "True", "Unknown"',
      'FieldValueRequired status.conditions[0].lastTransitionTime: Required value',
      'FieldValueRequired status.conditions[0].reason: Required value',
      'FieldValueInvalid status.expectedPods: Invalid value: -1: must be greater than or equal to 0',
    ]);
  });
});
