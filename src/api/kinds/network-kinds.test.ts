import { describe, expect, test } from 'vitest';
import type { Event, EventsEvent, Service } from '../generated/types.ts';
import type { Kind } from '../kind.ts';
import type { KubeObject } from '../object.ts';
import { endpointSliceKind } from './discovery/endpoint-slice.ts';
import { endpointsKind } from './core/endpoints.ts';
import { eventKind, eventsEventKind } from './core/event.ts';
import { coreEventOf, eventsEventOf } from './core/event-views.ts';
import { samples } from './samples.ts';
import { serviceKind } from './core/service.ts';
import { created, decoded, type Raw, refusal, row, statusRefusal, updated, updateRefusal } from './try-kind.ts';

type Case = readonly [why: string, raw: Raw, ...causes: (string | RegExp)[]];

function refuses<T extends KubeObject>(kind: Kind<T>, cases: readonly Case[]): void {
  for (const [why, raw, ...causes] of cases) {
    test(why, () => expect(refusal(kind, raw)).toEqual(causes.map((cause) => (typeof cause === 'string' ? cause : expect.stringMatching(cause)))));
  }
}

describe('a service', () => {
  const service = (spec: Raw = {}): Raw => ({ metadata: { name: 'web' }, spec: { ports: [{ port: 80 }], ...spec } });
  const dual = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '2001:db8::1'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' };
  const changed = (old: Raw, spec: Raw): string[] =>
    updateRefusal(serviceKind, created(serviceKind, service(old)), (object) => void Object.assign(object.spec, spec));

  test('gets its defaults', () => {
    expect(created(serviceKind, service()).spec).toEqual({
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    });
    expect(created(serviceKind, service({ type: 'LoadBalancer', sessionAffinity: 'ClientIP' })).spec).toMatchObject({
      allocateLoadBalancerNodePorts: true,
      externalTrafficPolicy: 'Cluster',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
    });
  });

  refuses(serviceKind, [
    ['needs ports', service({ ports: [] }), 'FieldValueRequired spec.ports: Required value'],
    ['needs none without an address', service({ ports: [], clusterIP: 'None', clusterIPs: ['None'] })],
    [
      'needs a name for what is outside',
      service({ type: 'ExternalName', clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] }),
      'FieldValueForbidden spec.clusterIPs: Forbidden: may not be set for ExternalName services',
      'FieldValueRequired spec.externalName: Required value',
    ],
    ['may end that name with a dot', service({ type: 'ExternalName', externalName: 'db.example.com.' })],
    [
      'names its ports, each differently',
      service({ ports: [{ port: 80 }, { port: 80, name: 'a' }, { port: 0, name: 'a', protocol: 'ICMP', targetPort: 'no_port' }] }),
      'FieldValueRequired spec.ports[0].name: Required value',
      'FieldValueDuplicate spec.ports[2].name: Duplicate value: "a"',
      'FieldValueInvalid spec.ports[2].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'FieldValueNotSupported spec.ports[2].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
      'FieldValueInvalid spec.ports[2].targetPort: Invalid value: "no_port": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'FieldValueDuplicate spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
    ],
    [
      'has addresses in their one form',
      service({ clusterIP: '010.0.0.1', clusterIPs: ['010.0.0.1'], externalIPs: ['::ffff:1.2.3.4', '127.0.0.1'] }),
      'FieldValueInvalid spec.clusterIPs[0]: Invalid value: "010.0.0.1": must not have leading 0s',
      'FieldValueInvalid spec.externalIPs[0]: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address',
      'FieldValueInvalid spec.externalIPs[1]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    ],
    [
      'has one address per family',
      service({ ...dual, clusterIPs: ['10.0.0.1', '10.0.0.2'] }),
      'FieldValueInvalid spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family',
      'FieldValueInvalid spec.clusterIPs[1]: Invalid value: "10.0.0.2": expected an IPv6 value as indicated by `ipFamilies[1]`',
    ],
    [
      'keeps fields of load balancers for those',
      service({ loadBalancerClass: 'x/y', loadBalancerSourceRanges: [' 10.0.0.1/24 '], allocateLoadBalancerNodePorts: false, externalTrafficPolicy: 'Local' }),
      "FieldValueForbidden spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
      'FieldValueInvalid spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length',
      "FieldValueForbidden spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "FieldValueForbidden spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
      'FieldValueInvalid spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
    ],
    [
      'has known values',
      service({ type: 'Odd', sessionAffinity: 'Odd', internalTrafficPolicy: 'Odd', trafficDistribution: 'Odd' }),
      'FieldValueNotSupported spec.sessionAffinity: Unsupported value: "Odd": supported values: "ClientIP", "None"',
      'FieldValueNotSupported spec.type: Unsupported value: "Odd": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      'FieldValueNotSupported spec.internalTrafficPolicy: Unsupported value: "Odd": supported values: "Cluster", "Local"',
      'FieldValueNotSupported spec.trafficDistribution: Unsupported value: "Odd": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
    ],
  ]);

  test('keeps its first address', () => {
    const old = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
    expect(changed(old, { clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] })).toEqual([
      'FieldValueInvalid spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
    ]);
    expect(changed(old, dual)).toEqual([]);
    expect(changed(dual, { clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] })).toEqual([
      'FieldValueInvalid spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to \'SingleStack\' when releasing the secondary clusterIP',
      'FieldValueInvalid spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to \'SingleStack\' when releasing the secondary ipFamily',
    ]);
  });

  test('loses what its new type has no use for, unless the client changed it too', () => {
    const old = created(serviceKind, service({ type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }], clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] }));
    const toName = updated(serviceKind, old, ({ spec }) => Object.assign(spec, { type: 'ExternalName', externalName: 'db.example.com' }));
    expect(toName.spec).not.toHaveProperty('clusterIP');
    expect(toName.spec).not.toHaveProperty('externalTrafficPolicy');
    expect(toName.spec.ports).toEqual([{ protocol: 'TCP', port: 80, targetPort: 80 }]);
    old.spec.type = 'LoadBalancer';
    old.status = { loadBalancer: { ingress: [{ ip: '10.0.0.9', ipMode: 'VIP' }] } };
    expect(updated(serviceKind, old, ({ spec }) => void (spec.type = 'ClusterIP')).status).toEqual({ loadBalancer: {} });
    const kept = updated(serviceKind, old, ({ spec }) => Object.assign(spec, { type: 'ClusterIP', ports: [{ port: 80, nodePort: 30081 }] }));
    expect(kept.spec.ports?.[0]?.nodePort).toBe(30081);
  });

  test('has a status only behind a load balancer', () => {
    const status = { loadBalancer: { ingress: [{ ip: '10.0.0.1' }, { hostname: '10.0.0.1' }, { ip: '10.0.0.2', ipMode: 'Odd' }] } };
    const write = (object: Service): void => void Object.assign(object.status, status);
    expect(statusRefusal(serviceKind, created(serviceKind, service()), write)).toEqual([
      "FieldValueForbidden status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
    ]);
    expect(statusRefusal(serviceKind, created(serviceKind, service({ type: 'LoadBalancer' })), write)).toEqual([
      'FieldValueInvalid status.loadBalancer.ingress[1].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
      'FieldValueNotSupported status.loadBalancer.ingress[2].ipMode: Unsupported value: "Odd": supported values: "Proxy", "VIP"',
    ]);
  });

  test('shows how it is reached', () => {
    const made = created(serviceKind, service({ type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30080 }], selector: { b: '2', a: '1' } }));
    expect(row(serviceKind, made)).toMatchObject({ 'Cluster-IP': '<none>', 'External-IP': '<pending>', 'Port(s)': '80:30080/TCP', Selector: 'a=1,b=2' });
    made.status.loadBalancer.ingress = [{ hostname: 'b.example.com' }, { ip: '10.0.0.9' }];
    expect(row(serviceKind, made)['External-IP']).toBe('10.0.0.9,b.example.com');
  });

  test('is warned of what is ignored', () => {
    const made = created(serviceKind, service({ clusterIP: 'None', clusterIPs: ['None'], externalIPs: ['2001:DB8::1'], externalName: 'x' }));
    expect(serviceKind.warnings?.(made, undefined)).toEqual([
      'spec.externalIPs is ignored for headless services',
      'spec.externalIPs[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ]);
  });
});

describe('endpoints', () => {
  const endpoints = (...subsets: Raw[]): Raw => ({ metadata: { name: 'web' }, subsets });
  refuses(endpointsKind, [
    [
      'have addresses that can be reached',
      endpoints(
        {},
        { addresses: [{ ip: 'x' }], notReadyAddresses: [{ ip: '169.254.0.1', nodeName: 'No' }], ports: [{ port: 1 }, { port: 70_000, name: 'a' }] },
      ),
      'FieldValueRequired subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
      'FieldValueInvalid subsets[1].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'FieldValueInvalid subsets[1].addresses[0].ip: Invalid value: "x": must be a valid IP address',
      /^FieldValueInvalid subsets\[1\].notReadyAddresses\[0\].nodeName: Invalid value: "No"/,
      'FieldValueInvalid subsets[1].notReadyAddresses[0].ip: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      'FieldValueRequired subsets[1].ports[0].name: Required value',
      'FieldValueInvalid subsets[1].ports[1].port: Invalid value: 70000: must be between 1 and 65535, inclusive',
    ],
  ]);
  test('show the first three', () => {
    const ips = ['10.0.0.1', '10.0.0.2', '2001:db8::3', '10.0.0.4'].map((ip) => ({ ip }));
    expect(row(endpointsKind, created(endpointsKind, endpoints({ addresses: ips, ports: [{ port: 80 }] }))).Endpoints).toBe(
      '10.0.0.1:80,10.0.0.2:80,[2001:db8::3]:80 + 1 more...',
    );
    expect(row(endpointsKind, created(endpointsKind, endpoints())).Endpoints).toBe('<none>');
  });
});

describe('an endpoint slice', () => {
  const slice = (more: Raw = {}): Raw => ({ metadata: { name: 'web-1' }, addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ...more });
  refuses(endpointSliceKind, [
    ['has a type', slice({ addressType: '', endpoints: [] }), 'FieldValueRequired addressType: Required value'],
    [
      'has a known type',
      slice({ addressType: 'IPX', endpoints: [] }),
      'FieldValueNotSupported addressType: Unsupported value: "IPX": supported values: "FQDN", "IPv4", "IPv6"',
    ],
    [
      'has addresses of its type',
      slice({ endpoints: [{ addresses: [] }, { addresses: ['2001:db8::1'] }] }),
      'FieldValueRequired endpoints[0].addresses: Required value: must contain at least 1 address',
      'FieldValueInvalid endpoints[1].addresses: Invalid value: "2001:db8::1": must be an IPv4 address',
    ],
    [
      'has IPv6 addresses in their one form',
      slice({ addressType: 'IPv6', endpoints: [{ addresses: ['2001:db8:0::1'] }] }),
      'FieldValueInvalid endpoints[0].addresses[0]: Invalid value: "2001:db8:0::1": must be in canonical form ("2001:db8::1")',
    ],
    [
      'has whole names',
      slice({ addressType: 'FQDN', endpoints: [{ addresses: ['host'] }] }),
      'FieldValueInvalid endpoints[0].addresses[0]: Invalid value: "host": should be a domain with at least two segments separated by dots',
    ],
    [
      'has not too many of anything',
      slice({
        endpoints: [{ addresses: Array.from({ length: 101 }, (_, i) => `10.0.1.${i}`), hints: { forZones: Array.from({ length: 9 }, () => ({ name: 'z' })) } }],
      }),
      'FieldValueTooMany endpoints[0].addresses: Too many: 101: must have at most 100 items',
      'FieldValueTooMany endpoints[0].hints.forZones: Too many: 9: must have at most 8 items',
    ],
    ['names each port once', slice({ ports: [{ port: 1 }, { port: 2 }] }), 'FieldValueDuplicate ports[1].name: Duplicate value: ""'],
  ]);
  test('keeps its type, and drops the topology of old', () => {
    const old = created(endpointSliceKind, slice({ endpoints: [{ addresses: ['10.0.0.1'], deprecatedTopology: { a: 'b' } }] }));
    expect(old.endpoints).toEqual([{ addresses: ['10.0.0.1'], conditions: {} }]);
    expect(updateRefusal(endpointSliceKind, old, (object) => void Object.assign(object, { addressType: 'FQDN', endpoints: [] }))).toEqual([
      'FieldValueInvalid addressType: Invalid value: "FQDN": field is immutable',
    ]);
    expect(endpointSliceKind.generationAlsoGrows?.({ ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }, old)).toBe(true);
  });
  test('shows ports and addresses, or that there are none', () => {
    expect(row(endpointSliceKind, created(endpointSliceKind, slice({ ports: [{ name: 'a' }, { port: 80, name: 'b' }] })))).toMatchObject({
      Ports: 'a,80',
      Endpoints: '10.0.0.1',
    });
    expect(row(endpointSliceKind, created(endpointSliceKind, slice({ endpoints: [] })))).toMatchObject({ Ports: '<unset>', Endpoints: '<unset>' });
  });
});

describe('an event', () => {
  const stored: Event = decoded(eventKind, {
    metadata: { name: 'e', namespace: 'default', uid: 'u' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'web', fieldPath: 'spec.containers{app}' },
    reason: 'Pulled',
    message: ' done\n',
    source: { component: 'kubelet', host: 'n1' },
    firstTimestamp: '2026-03-01T11:00:00Z',
    lastTimestamp: '2026-03-01T11:58:00Z',
    count: 3,
    type: 'Normal',
  });
  const newer: EventsEvent = decoded(eventsEventKind, {
    ...samples.EventsEvent,
    series: { count: 2, lastObservedTime: '2026-03-01T11:59:30.000000Z' },
    related: { kind: 'Node', name: 'n1' },
    note: 'attached',
  });

  test('is the same through both views', () => {
    expect(coreEventOf(eventsEventOf(stored))).toEqual(stored);
    expect(eventsEventOf(coreEventOf(newer))).toEqual(newer);
    expect(eventsEventOf(stored)).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: stored.involvedObject,
      note: ' done\n',
      deprecatedSource: { component: 'kubelet', host: 'n1' },
      deprecatedCount: 3,
      deprecatedFirstTimestamp: '2026-03-01T11:00:00Z',
      eventTime: null,
    });
    expect(coreEventOf(newer)).toMatchObject({ reportingComponent: 'example.com/disk', reportingInstance: 'disk-1', firstTimestamp: null, source: {} });
  });

  test('shows the same row through both views', () => {
    const shown = {
      'Last Seen': '2m',
      Type: 'Normal',
      Reason: 'Pulled',
      Object: 'pod/web',
      Subobject: 'spec.containers{app}',
      Source: 'kubelet, n1',
      Message: 'done',
      'First Seen': '60m',
      Count: 3,
      Name: 'e',
    };
    expect(row(eventKind, stored)).toEqual(shown);
    expect(row(eventsEventKind, eventsEventOf(stored))).toEqual(shown);
    expect(row(eventsEventKind, newer)).toMatchObject({ 'Last Seen': '30s', 'First Seen': '60m', Count: 2, Source: 'example.com/disk, disk-1' });
  });

  refuses(eventKind, [
    [
      'is kept beside its object',
      { metadata: { name: 'e' }, involvedObject: { namespace: 'other' } },
      'FieldValueInvalid involvedObject.namespace: Invalid value: "other": does not match event.namespace',
    ],
    [
      'of the newer kind says who and what',
      { metadata: { name: 'e', namespace: 'team' }, eventTime: '2026-03-01T11:00:00.000000Z', message: 'x'.repeat(1025) },
      'FieldValueInvalid involvedObject.namespace: Invalid value: "": does not match event.namespace',
      'FieldValueRequired reportingComponent: Required value',
      'FieldValueInvalid reportingComponent: Invalid value: "": name part must be non-empty',
      /^FieldValueInvalid reportingComponent: Invalid value: "": name part must consist/,
      'FieldValueRequired reportingInstance: Required value',
      'FieldValueRequired action: Required value',
      'FieldValueRequired reason: Required value',
      'FieldValueInvalid message: Invalid value: "": can have at most 1024 characters',
    ],
    ['can have any name that fits into a path', { ...samples.Event, metadata: { name: 'Web_1.17' } }],
  ]);

  refuses(eventsEventKind, [
    [
      'of the newer kind uses nothing deprecated',
      {
        ...samples.EventsEvent,
        metadata: { name: 'No Name' },
        type: 'Odd',
        deprecatedCount: 1,
        deprecatedFirstTimestamp: '2026-03-01T11:00:00Z',
        deprecatedSource: { host: 'x' },
        series: { count: 1 },
      },
      /^FieldValueInvalid metadata.name: Invalid value: "No Name"/,
      'FieldValueInvalid series.count: Invalid value: "": should be at least 2',
      'FieldValueRequired series.lastObservedTime: Required value',
      'FieldValueInvalid type: Invalid value: "": has invalid value: Odd',
      'FieldValueInvalid firstTimestamp: Invalid value: "": needs to be unset',
      'FieldValueInvalid count: Invalid value: "": needs to be unset',
      'FieldValueInvalid source: Invalid value: "": needs to be unset',
    ],
  ]);

  test('goes on only as a series', () => {
    const old = created(eventsEventKind, samples.EventsEvent ?? {});
    const series = { count: 2, lastObservedTime: '2026-03-01T11:30:00.000000Z' };
    expect(updateRefusal(eventsEventKind, old, (event) => void (event.series = series))).toEqual([]);
    expect(updateRefusal(eventsEventKind, old, (event) => Object.assign(event, { note: 'else', reason: 'Other' }))).toEqual([
      'FieldValueInvalid reason: Invalid value: "Other": field is immutable',
      'FieldValueInvalid message: Invalid value: "else": field is immutable',
      'FieldValueInvalid reason: Invalid value: "Other": field is immutable',
    ]);
  });

  test('can be selected by what it is about', () => {
    expect(eventKind.selectableFields['involvedObject.name']?.(stored)).toBe('web');
    expect(eventKind.selectableFields.source?.(stored)).toBe('kubelet');
    expect(eventKind.selectableFields.source?.(coreEventOf(newer))).toBe('example.com/disk');
    expect(eventsEventKind.selectableFields['regarding.name']?.(newer)).toBe('web');
  });
});
