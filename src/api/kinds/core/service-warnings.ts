import type { Service, ServiceSpec } from '../../generated/types.ts';
import { cidrWarnings, ipWarnings } from '../../validation/ip.ts';
import { TOPOLOGY_HINTS_ANNOTATION, TOPOLOGY_MODE_ANNOTATION } from './service-rules.ts';

const isHeadless = ({ type, clusterIP }: ServiceSpec): boolean => type === 'ClusterIP' && clusterIP === 'None';

export function serviceWarnings({ metadata, spec }: Service): string[] {
  const isDeprecated = Object.hasOwn(metadata.annotations ?? {}, TOPOLOGY_HINTS_ANNOTATION);
  return [
    ...(isDeprecated ? [`annotation ${TOPOLOGY_HINTS_ANNOTATION} is deprecated, please use ${TOPOLOGY_MODE_ANNOTATION} instead`] : []),
    ...clusterIpWarnings(spec),
    ...(isHeadless(spec) ? headlessWarnings(spec) : []),
    ...externalIpWarnings(spec),
    ...((spec.loadBalancerIP ?? '') === '' ? [] : ipWarnings(spec.loadBalancerIP ?? '', 'spec.loadBalancerIP')),
    ...(spec.loadBalancerSourceRanges ?? []).flatMap((range, i) => cidrWarnings(range, `spec.loadBalancerSourceRanges[${i}]`)),
    ...ignoredFieldWarnings(spec),
    ...(spec.trafficDistribution === 'PreferClose' ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'] : []),
  ];
}

function clusterIpWarnings({ clusterIP = '', clusterIPs = [] }: ServiceSpec): string[] {
  return clusterIP === '' || clusterIP === 'None' ? [] : clusterIPs.flatMap((ip, i) => ipWarnings(ip, `spec.clusterIPs[${i}]`));
}

function headlessWarnings({ loadBalancerIP = '', externalIPs = [], sessionAffinity }: ServiceSpec): string[] {
  return [
    ...(loadBalancerIP === '' ? [] : ['spec.loadBalancerIP is ignored for headless services']),
    ...(externalIPs.length === 0 ? [] : ['spec.externalIPs is ignored for headless services']),
    ...(sessionAffinity === 'None' ? [] : ['spec.SessionAffinity is ignored for headless services']),
  ];
}

function externalIpWarnings(spec: ServiceSpec): string[] {
  const ips = spec.externalIPs ?? [];
  const isUsed = ips.length > 0 && !isHeadless(spec) && spec.type !== 'ExternalName';
  return [
    ...ips.flatMap((ip, i) => ipWarnings(ip, `spec.externalIPs[${i}]`)),
    ...(isUsed ? ['spec.externalIPs is deprecated and may no longer be implemented in some clusters'] : []),
  ];
}

function ignoredFieldWarnings({ type, externalIPs = [], externalName = '' }: ServiceSpec): string[] {
  if (type === 'ExternalName') return externalIPs.length === 0 ? [] : ['spec.externalIPs is ignored when spec.type is "ExternalName"'];
  return externalName === '' ? [] : ['spec.externalName is ignored when spec.type is not "ExternalName"'];
}
