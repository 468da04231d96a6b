/** Kinds that are kept for others, judged as in v1.36.4. */
import { describe, expect, test } from 'vitest';
import { newAutoscalerOf, oldAutoscalerOf } from './autoscaling/autoscaler-views.ts';
import { horizontalPodAutoscalerKind as autoscalers, oldHorizontalPodAutoscalerKind as oldAutoscalers } from './autoscaling/horizontal-pod-autoscaler.ts';
import { ingressClassKind } from './networking/ingress-class.ts';
import { ingressKind } from './networking/ingress.ts';
import { networkPolicyKind } from './networking/network-policy.ts';
import { runtimeClassKind } from './node/runtime-class.ts';
import { created, refusal, row, statusRefusal, updateRefusal } from './try-kind.ts';
import { replicationControllerKind } from './apps/replication-controller.ts';

const metadata = { name: 'a', namespace: 'default' };

describe('ingresses', () => {
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const path = (more: object) => ({ path: '/', pathType: 'Prefix', backend, ...more });
  const ingress = (spec: object, more: object = {}) => ({ metadata: { ...metadata, ...more }, spec });
  const withPath = (more: object) => ingress({ rules: [{ host: 'a.example', http: { paths: [path(more)] } }] });
  const at = 'spec.rules[0].http.paths[0]';

  test('are accepted, and shown with hosts, address and ports', () => {
    const made = created(
      ingressKind,
      ingress({ ingressClassName: 'nginx', tls: [{ hosts: ['*.example.com'] }], rules: ['a', 'b', 'c', 'd'].map((host) => ({ host })) }),
    );
    expect(refusal(ingressKind, withPath({}))).toEqual([]);
    expect(row(ingressKind, { ...made, status: { loadBalancer: { ingress: [{ ip: '10.0.0.2' }, { hostname: 'lb' }, { ip: '10.0.0.1' }] } } })).toMatchObject({
      Class: 'nginx',
      Hosts: 'a,b,c + 1 more...',
      Address: '10.0.0.1,10.0.0.2,lb',
      Ports: '80, 443',
    });
    expect(row(ingressKind, created(ingressKind, ingress({ defaultBackend: backend })))).toMatchObject({
      Class: '<none>',
      Hosts: '*',
      Address: '',
      Ports: '80',
    });
  });

  test.each<[object, string]>([
    [ingress({}), 'FieldValueInvalid spec: Invalid value: null: either `defaultBackend` or `rules` must be specified'],
    [ingress({ rules: [{ host: '10.0.0.1' }] }), 'FieldValueInvalid spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
    [ingress({ rules: [{ http: { paths: [] } }] }), 'FieldValueRequired spec.rules[0].http.paths: Required value'],
    [withPath({ pathType: null }), `FieldValueRequired ${at}.pathType: Required value: pathType must be specified`],
    [
      withPath({ pathType: 'Fuzzy' }),
      `FieldValueNotSupported ${at}.pathType: Unsupported value: "Fuzzy": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
    ],
    [withPath({ path: 'x' }), `FieldValueInvalid ${at}.path: Invalid value: "x": must be an absolute path`],
    [withPath({ path: '/a//b' }), `FieldValueInvalid ${at}.path: Invalid value: "/a//b": must not contain '//'`],
    [withPath({ path: '/a/..' }), `FieldValueInvalid ${at}.path: Invalid value: "/a/..": cannot end with '/..'`],
    [withPath({ backend: {} }), `FieldValueInvalid ${at}.backend: Invalid value: "": resource or service backend is required`],
    [withPath({ backend: { service: { name: 'web' } } }), `FieldValueRequired ${at}.backend: Required value: port name or number is required`],
    [
      ingress({ ingressClassName: 'x', defaultBackend: backend }, { annotations: { 'kubernetes.io/ingress.class': 'y' } }),
      'FieldValueInvalid annotations.kubernetes.io/ingress.class: Invalid value: "y": must match `ingressClassName` when both are specified',
    ],
  ])('%j is refused', (raw, expected) => {
    expect(refusal(ingressKind, raw as never)).toEqual([expected]);
  });

  test('a wildcard is the first label, and nothing else', () => {
    expect(refusal(ingressKind, ingress({ rules: [{ host: '*.example.com' }] }))).toEqual([]);
    expect(refusal(ingressKind, ingress({ rules: [{ host: 'a.*.com' }] }))[0]).toContain("a wildcard DNS-1123 subdomain must start with '*.'");
  });

  test('a status says where it can be reached', () => {
    const made = created(ingressKind, ingress({ defaultBackend: backend }));
    const wrong = statusRefusal(ingressKind, made, (object) => {
      object.status.loadBalancer.ingress = [{ ip: 'nowhere' }, { hostname: '10.0.0.1' }];
    });
    expect(wrong).toHaveLength(2);
  });
});

describe('classes', () => {
  const ingressClass = (spec: object, annotations = {}) => ({ metadata: { name: 'a', annotations }, spec });

  test('of ingresses name their controller for good', () => {
    const made = created(
      ingressClassKind,
      ingressClass(
        { controller: 'example.com/x', parameters: { kind: 'P', name: 'p', apiGroup: 'g.io' } },
        { 'ingressclass.kubernetes.io/is-default-class': 'true' },
      ),
    );
    expect(made.spec.parameters?.scope).toBe('Cluster');
    expect(row(ingressClassKind, made)).toMatchObject({ Name: 'a (default)', Controller: 'example.com/x', Parameters: 'P.g.io/p' });
    expect(refusal(ingressClassKind, ingressClass({}))).toEqual(['FieldValueRequired spec.controller: Required value']);
    expect(refusal(ingressClassKind, ingressClass({ controller: 'x' }))[0]).toContain('must be a domain-prefixed path (such as "acme.io/foo")');
    expect(refusal(ingressClassKind, ingressClass({ controller: 'a.io/x', parameters: { kind: 'P', name: 'p', scope: 'Namespace' } }))).toEqual([
      "FieldValueRequired spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
    ]);
    expect(updateRefusal(ingressClassKind, made, ({ spec }) => void (spec.controller = 'example.com/y'))).toEqual([
      'FieldValueInvalid spec.controller: Invalid value: "example.com/y": field is immutable',
    ]);
  });

  test('of runtimes name their handler for good', () => {
    const made = created(runtimeClassKind, { metadata: { name: 'kata' }, handler: 'kata', overhead: { podFixed: { cpu: '250m' } } });
    expect(row(runtimeClassKind, made)).toMatchObject({ Name: 'kata', Handler: 'kata' });
    expect(refusal(runtimeClassKind, { metadata: { name: 'x' } })).toEqual(['FieldValueRequired handler: Required value']);
    const toleration = { key: 'a', operator: 'Exists' };
    expect(refusal(runtimeClassKind, { metadata: { name: 'x' }, handler: 'h', scheduling: { tolerations: [toleration, toleration] } })[0]).toContain(
      'FieldValueDuplicate scheduling.tolerations[1]',
    );
    expect(updateRefusal(runtimeClassKind, made, (object) => void (object.handler = 'runc'))).toEqual([
      'FieldValueInvalid handler: Invalid value: "runc": field is immutable',
    ]);
  });
});

describe('network policies', () => {
  const policy = (spec: object) => ({ metadata, spec: { podSelector: {}, ...spec } });
  const from = (peer: object) => policy({ ingress: [{ from: [peer] }] });
  const port = (given: object) => policy({ egress: [{ ports: [given] }] });

  test('say which directions they are about', () => {
    expect(created(networkPolicyKind, policy({})).spec.policyTypes).toEqual(['Ingress']);
    const made = created(networkPolicyKind, port({ port: 80 }));
    expect(made.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'], egress: [{ ports: [{ protocol: 'TCP', port: 80 }] }] });
    expect(row(networkPolicyKind, made)).toMatchObject({ 'Pod-Selector': '<none>' });
  });

  test.each<[object, string]>([
    [from({}), 'FieldValueRequired spec.ingress[0].from[0]: Required value: must specify a peer'],
    [
      from({ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }),
      'FieldValueForbidden spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer',
    ],
    [
      from({ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] } }),
      'FieldValueInvalid spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
    ],
    [
      from({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/8'] } }),
      'FieldValueInvalid spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
    ],
    [port({ port: 80, endPort: 79 }), 'FieldValueInvalid spec.egress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`'],
    [
      port({ port: 'http', endPort: 79 }),
      'FieldValueInvalid spec.egress[0].ports[0].endPort: Invalid value: 79: may not be specified when `port` is non-numeric',
    ],
    [port({ endPort: 79 }), 'FieldValueInvalid spec.egress[0].ports[0].endPort: Invalid value: 79: may not be specified when `port` is not specified'],
    [port({ protocol: 'ICMP' }), 'FieldValueNotSupported spec.egress[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"'],
    [policy({ policyTypes: ['Sideways'] }), 'FieldValueNotSupported spec.policyTypes[0]: Unsupported value: "Sideways": supported values: "Ingress", "Egress"'],
  ])('%j is refused', (raw, expected) => {
    expect(refusal(networkPolicyKind, raw as never)).toEqual([expected]);
  });

  test('a part of an address range is accepted', () => {
    expect(refusal(networkPolicyKind, from({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }))).toEqual([]);
    expect(refusal(networkPolicyKind, from({ ipBlock: { cidr: '2001:db8::/64', except: ['2001:db8::/96'] } }))).toEqual([]);
  });
});

describe('autoscalers', () => {
  const target = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 3 };
  const autoscaler = (spec: object) => ({ metadata, spec: { ...target, ...spec } });
  const metric = (given: object) => autoscaler({ metrics: [given] });

  test('look at the processor unless they are told otherwise', () => {
    const made = created(autoscalers, autoscaler({ behavior: { scaleUp: { selectPolicy: 'Min' } } }));
    expect(made.spec).toMatchObject({
      minReplicas: 1,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }],
      behavior: { scaleUp: { selectPolicy: 'Min', policies: [{ type: 'Pods', value: 4 }, { type: 'Percent' }] }, scaleDown: { selectPolicy: 'Max' } },
    });
    expect(row(autoscalers, made)).toMatchObject({ Reference: 'Deployment/web', Targets: 'cpu: <unknown>/80%', MinPods: '1', MaxPods: 3, Replicas: 0 });
  });

  test.each<[object, string[]]>([
    [
      autoscaler({ maxReplicas: 0 }),
      [
        'FieldValueRequired spec.maxReplicas: Required value: must be set and greater than 0',
        'FieldValueInvalid spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
      ],
    ],
    [autoscaler({ minReplicas: 5 }), ['FieldValueInvalid spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`']],
    [
      autoscaler({ scaleTargetRef: { kind: 'Deployment', name: 'web' } }),
      ['FieldValueInvalid spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group'],
    ],
    [autoscaler({ scaleTargetRef: { kind: 'ReplicationController', name: 'web' } }), []],
    [metric({ type: 'Pods' }), ['FieldValueRequired spec.metrics[0].pods: Required value: must populate information for the given metric source']],
    [
      metric({ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } }),
      ['FieldValueRequired spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization'],
    ],
    [
      autoscaler({ behavior: { scaleUp: { stabilizationWindowSeconds: 4000, policies: [{ type: 'Pods', value: 0, periodSeconds: 15 }] } } }),
      [
        'FieldValueInvalid spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 4000: must be less than or equal to 3600',
        'FieldValueInvalid spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
      ],
    ],
  ])('%j', (raw, expected) => {
    expect(refusal(autoscalers, raw as never)).toEqual(expected);
  });

  const metrics = [
    {
      type: 'Object',
      object: { describedObject: { kind: 'Service', name: 's', apiVersion: 'v1' }, target: { type: 'Value', value: '2k' }, metric: { name: 'm' } },
    },
    { type: 'Pods', pods: { metric: { name: 'm', selector: { matchLabels: { a: 'b' } } }, target: { type: 'AverageValue', averageValue: '1' } } },
    { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 50 } } },
    { type: 'External', external: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '30' } } },
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
  ];

  test('lose nothing in the first version, there and back', () => {
    const made = created(autoscalers, autoscaler({ minReplicas: 2, metrics, behavior: { scaleDown: { stabilizationWindowSeconds: 5 } } }));
    const current = { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 12, averageValue: '100m' } } };
    const busy = {
      ...made,
      status: { currentReplicas: 2, desiredReplicas: 2, currentMetrics: [current], conditions: [{ type: 'AbleToScale', status: 'True' }] },
    };
    const old = oldAutoscalerOf(busy as typeof made);
    expect(old).toMatchObject({ apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 60 }, status: { currentCPUUtilizationPercentage: 12 } });
    expect(JSON.parse(old.metadata.annotations?.['autoscaling.alpha.kubernetes.io/metrics'] ?? '')).toHaveLength(4);
    expect(newAutoscalerOf(old)).toEqual(busy);
  });

  test('of the first version are judged by what they mean', () => {
    expect(created(oldAutoscalers, autoscaler({})).spec.targetCPUUtilizationPercentage).toBe(80);
    expect(refusal(oldAutoscalers, autoscaler({ minReplicas: 5 }))).toEqual([
      'FieldValueInvalid spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`',
    ]);
    expect(row(oldAutoscalers, created(oldAutoscalers, autoscaler({ targetCPUUtilizationPercentage: 50 })))).toMatchObject({ Targets: 'cpu: <unknown>/50%' });
    const nonsense = {
      metadata: { ...metadata, annotations: { 'autoscaling.alpha.kubernetes.io/metrics': '{"a', 'autoscaling.alpha.kubernetes.io/behavior': '[1]' } },
      spec: target,
    };
    expect(refusal(oldAutoscalers, nonsense)).toEqual([]);
  });
});

test('a replication controller takes its selector and labels from its template', () => {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const made = created(replicationControllerKind, { metadata, spec: { template } });
  expect(made).toMatchObject({ metadata: { labels: { app: 'web' } }, spec: { replicas: 1, selector: { app: 'web' } } });
  expect(refusal(replicationControllerKind, { metadata, spec: {} })).toEqual([
    'FieldValueRequired spec.selector: Required value',
    'FieldValueRequired spec.template: Required value',
  ]);
  expect(refusal(replicationControllerKind, { metadata, spec: { selector: { app: 'other' }, template } })).toEqual([
    'FieldValueInvalid spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
  ]);
});
