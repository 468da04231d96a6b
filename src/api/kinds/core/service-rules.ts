import { duplicate, type FieldError, forbidden, invalid, notOneOf, notSupported, required } from '../../field-error.ts';
import type { LoadBalancerIngress, Service, ServicePort, ServiceSpec, SessionAffinityConfig } from '../../generated/types.ts';
import { validateEndpointIp } from '../../validation/endpoint-ip.ts';
import { portNameProblems, portNumberProblems } from '../../validation/formats.ts';
import { parseIp, validateLegacyCidr, validateLegacyIp } from '../../validation/ip.ts';
import { validateLabels } from '../../validation/labels.ts';
import { dnsLabelProblems, dnsSubdomainProblems, labelKeyProblems } from '../../validation/names.ts';
import { portProtocols } from './endpoints.ts';
import { isHeadless, validateClusterIpChange, validateClusterIps, validateFamilyChange } from './service-cluster-ips.ts';
import { repeats } from '../../validation/repeats.ts';

export const TOPOLOGY_HINTS_ANNOTATION = 'service.kubernetes.io/topology-aware-hints';
export const TOPOLOGY_MODE_ANNOTATION = 'service.kubernetes.io/topology-mode';
const SOURCE_RANGES_ANNOTATION = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const MAX_AFFINITY_SECONDS = 86_400;
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const affinities = ['ClientIP', 'None'];
const trafficPolicies = ['Cluster', 'Local'];
const trafficDistributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
const ipModes = ['Proxy', 'VIP'];
const onlyForLoadBalancers = "may only be used when `type` is 'LoadBalancer'";

export function externallyAccessible({ type, externalIPs = [] }: ServiceSpec): boolean {
  return type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && externalIPs.length > 0);
}

const needsHealthCheck = ({ type, externalTrafficPolicy }: ServiceSpec): boolean => type === 'LoadBalancer' && externalTrafficPolicy === 'Local';

/** `old`: the service before this change; what it had may stay. */
export function validateService(service: Service, old?: Service): FieldError[] {
  const { spec } = service;
  return [
    ...validateTopologyAnnotations(service),
    ...((spec.ports ?? []).length === 0 && !isHeadless(spec) && spec.type !== 'ExternalName' ? [required('spec.ports')] : []),
    ...validateByType(spec),
    ...validatePorts(spec.ports ?? []),
    ...validateLabels(spec.selector, 'spec.selector'),
    ...validateAffinity(spec),
    ...validateClusterIps(spec, old?.spec),
    ...validateExternalIps(spec, old?.spec),
    ...validateType(spec),
    ...validatePortNumbers(spec),
    ...validateSourceRanges(service, old),
    ...validateNodePortAllocation(spec),
    ...validateLoadBalancerClass(spec),
    ...validateExternalTraffic(spec),
    ...validateInternalTraffic(spec),
    ...validateDistribution(spec),
  ];
}

function validateTopologyAnnotations({ metadata: { annotations = {} } }: Service): FieldError[] {
  const [hints, mode] = [annotations[TOPOLOGY_HINTS_ANNOTATION], annotations[TOPOLOGY_MODE_ANNOTATION]];
  if (hints === undefined || mode === undefined || hints === mode) return [];
  return [invalid(`metadata.annotations[${TOPOLOGY_MODE_ANNOTATION}]`, mode, `must match annotations[${TOPOLOGY_HINTS_ANNOTATION}] when both are specified`)];
}

function validateByType(spec: ServiceSpec): FieldError[] {
  if (spec.type === 'LoadBalancer' || spec.type === 'NodePort') {
    return isHeadless(spec) ? [invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${spec.type} services`)] : [];
  }
  if (spec.type !== 'ExternalName') return [];
  const notAllowed = (field: string): FieldError => forbidden(field, 'may not be set for ExternalName services');
  const errors: FieldError[] = [];
  if ((spec.clusterIPs ?? []).length > 0) errors.push(notAllowed('spec.clusterIPs'));
  if ((spec.ipFamilies ?? []).length > 0) errors.push(notAllowed('spec.ipFamilies'));
  if (spec.ipFamilyPolicy !== undefined) errors.push(notAllowed('spec.ipFamilyPolicy'));
  // A dot at the end says that the name is complete.
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') return [...errors, required('spec.externalName')];
  return [...errors, ...dnsSubdomainProblems(name).map((wrong) => invalid('spec.externalName', name, wrong))];
}

function validatePorts(ports: readonly ServicePort[]): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, i) => {
    const field = `spec.ports[${i}]`;
    const { name = '', protocol = '', appProtocol, targetPort } = port;
    const errors: FieldError[] = [];
    if (name === '' && ports.length > 1) errors.push(required(`${field}.name`));
    if (name !== '') errors.push(...dnsLabelProblems(name).map((wrong) => invalid(`${field}.name`, name, wrong)));
    if (name !== '' && names.has(name)) errors.push(duplicate(`${field}.name`, name));
    names.add(name);
    errors.push(...portNumberProblems(port.port).map((wrong) => invalid(`${field}.port`, port.port, wrong)));
    if (protocol === '') errors.push(required(`${field}.protocol`));
    else if (!portProtocols.includes(protocol)) errors.push(notSupported(`${field}.protocol`, protocol, portProtocols));
    const target = typeof targetPort === 'number' ? portNumberProblems(targetPort) : portNameProblems(targetPort);
    errors.push(...target.map((wrong) => invalid(`${field}.targetPort`, targetPort, wrong)));
    if (appProtocol !== undefined) errors.push(...labelKeyProblems(appProtocol).map((wrong) => invalid(`${field}.appProtocol`, appProtocol, wrong)));
    return errors;
  });
}

function validateAffinity({ sessionAffinity = '', sessionAffinityConfig }: ServiceSpec): FieldError[] {
  if (sessionAffinity === '') return [required('spec.sessionAffinity')];
  if (sessionAffinity === 'ClientIP') return validateClientIp(sessionAffinityConfig, 'spec.sessionAffinityConfig');
  if (sessionAffinity === 'None') {
    return sessionAffinityConfig === undefined ? [] : [forbidden('spec.sessionAffinityConfig', 'must not be set when session affinity is None')];
  }
  return [notSupported('spec.sessionAffinity', sessionAffinity, affinities)];
}

function validateClientIp(config: SessionAffinityConfig | undefined, field: string): FieldError[] {
  const why = 'when session affinity type is ClientIP';
  if (config === undefined) return [required(field, why)];
  if (config.clientIP === undefined) return [required(`${field}.clientIP`, why)];
  const at = `${field}.clientIP.timeoutSeconds`;
  const seconds = config.clientIP.timeoutSeconds;
  if (seconds === undefined) return [required(at, why)];
  return seconds > 0 && seconds <= MAX_AFFINITY_SECONDS ? [] : [invalid(at, seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`)];
}

function validateExternalIps({ externalIPs = [] }: ServiceSpec, old: ServiceSpec | undefined): FieldError[] {
  return externalIPs.flatMap((ip, i) => {
    const errors = validateLegacyIp(ip, `spec.externalIPs[${i}]`, old?.externalIPs ?? []);
    return errors.length > 0 ? errors : validateEndpointIp(ip, `spec.externalIPs[${i}]`);
  });
}

function validateType({ type = '' }: ServiceSpec): FieldError[] {
  if (type === '') return [required('spec.type')];
  return types.includes(type) ? [] : [notSupported('spec.type', type, types)];
}

/** No port and no node's port twice with the same protocol. */
function validatePortNumbers({ type, ports = [] }: ServiceSpec): FieldError[] {
  const used = ports.map(({ nodePort = 0, protocol = '' }) => (nodePort === 0 ? undefined : `${protocol} ${nodePort}`));
  const isUsed = repeats(used);
  const isOwn = repeats(ports.map(({ port, protocol = '' }) => `${protocol} ${port}`));
  return [
    ...ports.flatMap(({ nodePort = 0 }, i) =>
      type === 'ClusterIP' && nodePort !== 0 ? [forbidden(`spec.ports[${i}].nodePort`, "may not be used when `type` is 'ClusterIP'")] : [],
    ),
    ...ports.flatMap(({ nodePort }, i) => (used[i] !== undefined && isUsed[i] ? [duplicate(`spec.ports[${i}].nodePort`, nodePort)] : [])),
    ...ports.flatMap(({ port, protocol = '' }, i) => (isOwn[i] ? [duplicate(`spec.ports[${i}]`, shownPort(port, protocol))] : [])),
  ];
}

/** As Kubernetes' message shows a port that is there twice. */
const shownPort = (port: number, protocol: string): object => ({ Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 });

/** From where a load balancer takes traffic: a field, or the annotation from before there was one. */
function validateSourceRanges({ spec, metadata }: Service, old: Service | undefined): FieldError[] {
  const ranges = spec.loadBalancerSourceRanges ?? [];
  const annotation = metadata.annotations?.[SOURCE_RANGES_ANNOTATION];
  const field = ranges.length > 0 ? 'spec.LoadBalancerSourceRanges' : `metadata.annotations[${SOURCE_RANGES_ANNOTATION}]`;
  if (ranges.length === 0 && annotation === undefined) return [];
  const errors = spec.type === 'LoadBalancer' ? [] : [forbidden(field, onlyForLoadBalancers)];
  if (ranges.length > 0) {
    const before = (old?.spec.loadBalancerSourceRanges ?? []).map((range) => range.trim());
    return [...errors, ...ranges.flatMap((range, i) => validateLegacyCidr(range.trim(), `${field}[${i}]`, before))];
  }
  const value = (annotation ?? '').trim();
  if (value === '' || old?.metadata.annotations?.[SOURCE_RANGES_ANNOTATION] === annotation) return errors;
  return [...errors, ...value.split(',').flatMap((range) => validateLegacyCidr(range.trim(), field))];
}

function validateNodePortAllocation({ type, allocateLoadBalancerNodePorts: allocates }: ServiceSpec): FieldError[] {
  if (type === 'LoadBalancer') return allocates === undefined ? [required('allocateLoadBalancerNodePorts')] : [];
  return allocates === undefined ? [] : [forbidden('spec.allocateLoadBalancerNodePorts', onlyForLoadBalancers)];
}

function validateLoadBalancerClass({ type, loadBalancerClass }: ServiceSpec): FieldError[] {
  if (loadBalancerClass === undefined) return [];
  if (type !== 'LoadBalancer') return [forbidden('spec.loadBalancerClass', onlyForLoadBalancers)];
  return labelKeyProblems(loadBalancerClass).map((wrong) => invalid('spec.loadBalancerClass', loadBalancerClass, wrong));
}

function validateExternalTraffic(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy: policy = '', healthCheckNodePort: port = 0 } = spec;
  const errors: FieldError[] = [];
  if (!externallyAccessible(spec)) {
    if (policy !== '') errors.push(invalid('spec.externalTrafficPolicy', policy, 'may only be set for externally-accessible services'));
  } else if (policy === '') errors.push(required('spec.externalTrafficPolicy'));
  else if (!trafficPolicies.includes(policy)) errors.push(notSupported('spec.externalTrafficPolicy', policy, trafficPolicies));
  if (needsHealthCheck(spec)) {
    if (port === 0) errors.push(required('spec.healthCheckNodePort'));
    else errors.push(...portNumberProblems(port).map((wrong) => invalid('spec.healthCheckNodePort', port, wrong)));
  } else if (port !== 0) {
    errors.push(invalid('spec.healthCheckNodePort', port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"));
  }
  return errors;
}

function validateInternalTraffic({ type, internalTrafficPolicy: policy }: ServiceSpec): FieldError[] {
  if (policy === undefined) return type === 'NodePort' || type === 'LoadBalancer' || type === 'ClusterIP' ? [required('spec.internalTrafficPolicy')] : [];
  return trafficPolicies.includes(policy) ? [] : [notSupported('spec.internalTrafficPolicy', policy, trafficPolicies)];
}

function validateDistribution({ trafficDistribution }: ServiceSpec): FieldError[] {
  if (trafficDistribution === undefined || trafficDistributions.includes(trafficDistribution)) return [];
  return [notOneOf('spec.trafficDistribution', trafficDistribution, trafficDistributions)];
}

export function validateServiceUpdate(service: Service, old: Service): FieldError[] {
  const { spec } = service;
  const bothBalanced = spec.type === 'LoadBalancer' && old.spec.type === 'LoadBalancer';
  const errors = [...validateClusterIpChange(spec, old.spec), ...validateFamilyChange(spec, old.spec)];
  if (bothBalanced && spec.loadBalancerClass !== old.spec.loadBalancerClass) {
    errors.push(invalid('spec.loadBalancerClass', spec.loadBalancerClass, 'may not change once set'));
  }
  errors.push(...validateLoadBalancerClass(spec));
  if (needsHealthCheck(old.spec) && needsHealthCheck(spec) && spec.healthCheckNodePort !== old.spec.healthCheckNodePort) {
    errors.push(forbidden('spec.healthCheckNodePort', 'field is immutable'));
  }
  return [...errors, ...validateService(service, old)];
}

export function validateServiceStatus({ spec, status }: Service, old: Service): FieldError[] {
  const ingresses = status.loadBalancer.ingress ?? [];
  const field = 'status.loadBalancer.ingress';
  if (spec.type !== 'LoadBalancer' && ingresses.length > 0) return [forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'")];
  const before = (old.status.loadBalancer.ingress ?? []).flatMap(({ ip = '' }) => (ip === '' ? [] : [ip]));
  return ingresses.flatMap((ingress, i) => validateIngress(ingress, `${field}[${i}]`, before));
}

function validateIngress({ ip = '', ipMode, hostname = '' }: LoadBalancerIngress, field: string, old: readonly string[]): FieldError[] {
  const errors = ip === '' ? [] : validateLegacyIp(ip, `${field}.ip`, old);
  if (ipMode === undefined) {
    if (ip !== '') errors.push(required(`${field}.ipMode`, 'must be specified when `ip` is set'));
  } else if (ip === '') errors.push(forbidden(`${field}.ipMode`, 'may not be specified when `ip` is not set'));
  else if (!ipModes.includes(ipMode)) errors.push(notSupported(`${field}.ipMode`, ipMode, ipModes));
  if (hostname === '') return errors;
  errors.push(...dnsSubdomainProblems(hostname).map((wrong) => invalid(`${field}.hostname`, hostname, wrong)));
  return parseIp(hostname) === undefined ? errors : [...errors, invalid(`${field}.hostname`, hostname, 'must be a DNS name, not an IP address')];
}
