/**
 * Fields of a Service that repeat others (clusterIP, clusterIPs) or follow from them (ipFamilies,
 * ipFamilyPolicy), and those that clients leave out in updates. The cluster has one IP family, IPv4. Pure.
 */
import { type FieldError, invalid } from '../../../api/field-error.ts';
import type { Service } from '../../../api/generated/types.ts';
import { validateClusterIps } from '../../../api/kinds/core/service-cluster-ips.ts';

const needsClusterIp = ({ spec }: Service): boolean => spec.type !== 'ExternalName';
const hasNodePorts = ({ spec }: Service): boolean => spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);
const hasHealthCheck = ({ spec }: Service): boolean => spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
const equal = (a: readonly string[] = [], b: readonly string[] = []): boolean => a.length === b.length && a.every((item, i) => item === b[i]);

/** An update without server-chosen values keeps them: clients apply the same manifest again. */
export function keepAllocated(service: Service, old: Service): void {
  const { spec } = service;
  if (needsClusterIp(old) && needsClusterIp(service)) {
    if ((spec.clusterIP ?? '') === '' && old.spec.clusterIP !== undefined) spec.clusterIP = old.spec.clusterIP;
    if ((spec.clusterIPs ?? []).length === 0 && old.spec.clusterIPs !== undefined) spec.clusterIPs = [...old.spec.clusterIPs];
  }
  if (hasNodePorts(old) && hasNodePorts(service)) keepNodePorts(service, old);
  if (hasHealthCheck(old) && hasHealthCheck(service) && (spec.healthCheckNodePort ?? 0) === 0 && old.spec.healthCheckNodePort !== undefined) {
    spec.healthCheckNodePort = old.spec.healthCheckNodePort;
  }
}

function keepNodePorts({ spec }: Service, old: Service): void {
  const given = new Set((spec.ports ?? []).map((port) => port.nodePort ?? 0));
  const byName = new Map((old.spec.ports ?? []).map((port) => [port.name ?? '', port.nodePort ?? 0]));
  for (const port of spec.ports ?? []) {
    const before = byName.get(port.name ?? '') ?? 0;
    if ((port.nodePort ?? 0) === 0 && before !== 0 && !given.has(before)) port.nodePort = before;
  }
}

/** Old clients know only `clusterIP`, newer ones set both. */
export function syncClusterIps({ spec }: Service, old: Service | undefined): void {
  const ip = spec.clusterIP ?? '';
  if (old === undefined) {
    if (ip !== '' && (spec.clusterIPs ?? []).length === 0) spec.clusterIPs = [ip];
    return;
  }
  const oldIp = old.spec.clusterIP ?? '';
  if ((old.spec.clusterIPs ?? []).length > 0 && (spec.clusterIPs ?? []).length === 0 && ip === oldIp) spec.clusterIPs = [...(old.spec.clusterIPs ?? [])];
  if (ip === oldIp || !equal(spec.clusterIPs, old.spec.clusterIPs)) return;
  if (ip === '') delete spec.clusterIPs;
  else spec.clusterIPs = [ip];
}

/** Fills in families and policy. @returns errors for what a single-stack cluster does not support */
export function setIpFamilies(service: Service, old: Service | undefined): FieldError[] {
  const { spec } = service;
  if (!needsClusterIp(service)) return [];
  const headless = spec.clusterIP === 'None';
  const selectorless = Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= old?.spec.ipFamilyPolicy ?? (headless && selectorless ? 'RequireDualStack' : 'SingleStack');
  const malformed = validateClusterIps(spec, old?.spec);
  if (malformed.length > 0) return malformed;
  const errors = policyErrors(spec);
  errors.push(...inferFamilies(spec));
  if (errors.length > 0) return errors;
  if (headless && selectorless) {
    const families = spec.ipFamilies ?? ['IPv4'];
    const other = families[0] === 'IPv4' ? 'IPv6' : 'IPv4';
    spec.ipFamilies = families.length < 2 && spec.ipFamilyPolicy !== 'SingleStack' ? [...families, other] : families;
    return [];
  }
  const impossible = familyErrors(spec);
  if (impossible.length === 0 && (spec.ipFamilies ?? []).length === 0) spec.ipFamilies = ['IPv4'];
  return impossible;
}

function policyErrors({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: Service['spec']): FieldError[] {
  if (ipFamilyPolicy !== 'SingleStack') return [];
  const because = (what: string): FieldError =>
    invalid('spec.ipFamilyPolicy', ipFamilyPolicy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`);
  return [...(clusterIPs.length === 2 ? [because('cluster IPs')] : []), ...(ipFamilies.length === 2 ? [because('IP families')] : [])];
}

function inferFamilies(spec: Service['spec']): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, ip] of (spec.clusterIPs ?? []).entries()) {
    if (ip === 'None' || ip === '' || i < (spec.ipFamilies ?? []).length) continue;
    if (ip.includes(':')) errors.push(invalid(`spec.clusterIPs[${i}]`, spec.clusterIPs, 'IPv6 is not configured on this cluster'));
    else spec.ipFamilies = [...(spec.ipFamilies ?? []), 'IPv4'];
  }
  return errors;
}

function familyErrors({ ipFamilyPolicy, ipFamilies = [] }: Service['spec']): FieldError[] {
  return [
    ...(ipFamilyPolicy === 'RequireDualStack'
      ? [invalid('spec.ipFamilyPolicy', ipFamilyPolicy, 'this cluster is not configured for dual-stack services')]
      : []),
    ...ipFamilies.flatMap((family, i) => (family === 'IPv4' ? [] : [invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster')])),
  ];
}
