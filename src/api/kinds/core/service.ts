import type { Service, ServicePort, ServiceSpec } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { nameIsDnsLabel } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn, wideColumn } from '../../printer-columns.ts';
import { externallyAccessible, validateService, validateServiceStatus, validateServiceUpdate } from './service-rules.ts';
import { serviceWarnings } from './service-warnings.ts';
import { everyVerb } from '../../verbs.ts';

const AFFINITY_SECONDS = 10_800;
const typesWithClusterIp = ['ClusterIP', 'NodePort', 'LoadBalancer'];

function defaults({ spec, status }: Service): void {
  defaultAffinity(spec);
  spec.type ??= 'ClusterIP';
  for (const port of spec.ports ?? []) defaultPort(port);
  if (externallyAccessible(spec)) spec.externalTrafficPolicy ??= 'Cluster';
  if (typesWithClusterIp.includes(spec.type)) spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type !== 'LoadBalancer') return;
  spec.allocateLoadBalancerNodePorts ??= true;
  for (const ingress of status.loadBalancer.ingress ?? []) if ((ingress.ip ?? '') !== '') ingress.ipMode ??= 'VIP';
}

function defaultAffinity(spec: ServiceSpec): void {
  spec.sessionAffinity ??= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  else if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
  }
}

function defaultPort(port: ServicePort): void {
  port.protocol ??= 'TCP';
  if (port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
}

/**
 * A change of type leaves fields behind that the new type has no use for. Those that the server may have filled in, and that the
 * client did not change as well, are cleared.
 */
function dropFieldsOfOldType(service: Service, { spec: old }: Service): void {
  const { spec } = service;
  const same = (...fields: (keyof ServiceSpec)[]): boolean => fields.every((field) => semanticallyEqual(spec[field], old[field]));
  const drop = (...fields: (keyof ServiceSpec)[]): void => {
    for (const field of fields) delete spec[field];
  };
  if (old.type !== 'ExternalName' && spec.type === 'ExternalName') {
    if (same('clusterIP', 'clusterIPs')) drop('clusterIP', 'clusterIPs');
    if (same('ipFamilies')) drop('ipFamilies');
    if (same('ipFamilyPolicy')) drop('ipFamilyPolicy');
  }
  if (usesNodePorts(old) && !usesNodePorts(spec) && addsNoNodePort(spec, old)) for (const port of spec.ports ?? []) delete port.nodePort;
  if (usesHealthCheck(old) && !usesHealthCheck(spec) && same('healthCheckNodePort')) drop('healthCheckNodePort');
  if (old.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (same('allocateLoadBalancerNodePorts')) drop('allocateLoadBalancerNodePorts');
    if (same('loadBalancerClass')) drop('loadBalancerClass');
  }
  if (externallyAccessible(old) && !externallyAccessible(spec) && same('externalTrafficPolicy')) drop('externalTrafficPolicy');
  // The status is the old object's own: it is replaced, not changed.
  if (spec.type !== 'LoadBalancer') service.status = { ...service.status, loadBalancer: {} };
}

const usesNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer';
const usesHealthCheck = ({ type, externalTrafficPolicy }: ServiceSpec): boolean => type === 'LoadBalancer' && externalTrafficPolicy === 'Local';

function addsNoNodePort(spec: ServiceSpec, old: ServiceSpec): boolean {
  const before = new Set((old.ports ?? []).map(({ nodePort }) => nodePort ?? 0));
  return (spec.ports ?? []).every(({ nodePort = 0 }) => nodePort === 0 || before.has(nodePort));
}

function externalAddress({ spec, status }: Service): string {
  const own = spec.externalIPs ?? [];
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return own.join(',') || '<none>';
    case 'LoadBalancer': {
      const given = (status.loadBalancer.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '').filter((address) => address !== '');
      return [...[...new Set(given)].sort(), ...own].join(',') || '<pending>';
    }
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return '<unknown>';
  }
}

function portsOf({ spec }: Service): string {
  const shown = (spec.ports ?? []).map(({ port, nodePort = 0, protocol = '' }) => `${port}${nodePort > 0 ? `:${nodePort}` : ''}/${protocol}`);
  return shown.join(',') || '<none>';
}

function selectorOf({ spec }: Service): string {
  const pairs = Object.entries(spec.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(',') || '<none>';
}

export const serviceKind: Kind<Service> = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  singular: 'service',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  type: 'Service',
  storage: { resource: 'services' },
  verbs: everyVerb,
  validateName: nameIsDnsLabel,
  defaults,
  prepareForCreate: (service) => {
    service.status = { loadBalancer: {} };
  },
  prepareForUpdate: dropFieldsOfOldType,
  validate: (service) => validateService(service),
  validateUpdate: validateServiceUpdate,
  checks: { update: ['metadataChange', 'change'] },
  warnings: serviceWarnings,
  status: { validateUpdate: validateServiceStatus },
  hasGeneration: false,
  createOnUpdate: true,
  unconditionalUpdate: true,
  selectableFields: {
    'spec.clusterIP': (service) => service.spec.clusterIP ?? '',
    'spec.type': (service) => service.spec.type ?? '',
  },
  columns: [
    nameColumn,
    textColumn('Type', (service) => service.spec.type ?? ''),
    textColumn('Cluster-IP', (service) => service.spec.clusterIPs?.[0] ?? '<none>'),
    textColumn('External-IP', externalAddress),
    textColumn('Port(s)', portsOf),
    ageColumn,
    wideColumn('Selector', selectorOf),
  ],
};
