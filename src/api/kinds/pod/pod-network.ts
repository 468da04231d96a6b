import { type FieldError, forbidden, invalid, notOneOf, required, tooLong } from '../../field-error.ts';
import type { HostAlias, PodDNSConfig, PodSpec } from '../../generated/types.ts';
import { validateLegacyIp } from '../../validation/ip.ts';
import { underscoredSubdomainProblems } from '../../validation/names.ts';
import { byteLength } from '../../validation/text.ts';
import { dnsSubdomain, invalidEach } from '../../validation/field-rules.ts';
import { allContainers } from './pod-parts.ts';

const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

export function validateDnsPolicy(policy: string | undefined, field: string): FieldError[] {
  if (policy === undefined || policy === '') return [required(field)];
  return dnsPolicies.includes(policy) ? [] : [notOneOf(field, policy, dnsPolicies)];
}

/** What the C library can do. */
const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_LIST_LENGTH = 2048;

export function validateDnsConfig(config: PodDNSConfig | undefined, dnsPolicy: string | undefined, field: string): FieldError[] {
  if (dnsPolicy === 'None') {
    if (config === undefined) return [required(field, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    const hasServer = (config.nameservers ?? []).length > 0;
    if (!hasServer) return [required(`${field}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
  }
  if (config === undefined) return [];
  const { nameservers = [], searches = [], options = [] } = config;
  return [
    ...(nameservers.length > MAX_NAMESERVERS ? [invalid(`${field}.nameservers`, nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`)] : []),
    ...nameservers.flatMap((server, i) => validateLegacyIp(server, `${field}.nameservers[${i}]`)),
    ...validateSearches(searches, `${field}.searches`),
    ...options.flatMap(({ name = '' }, i) => (name === '' ? [required(`${field}.options[${i}]`, 'must not be empty')] : [])),
  ];
}

function validateSearches(searches: readonly string[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (searches.length > MAX_SEARCHES) errors.push(invalid(field, searches, `must not have more than ${MAX_SEARCHES} search paths`));
  if (byteLength(searches.join(' ')) > MAX_SEARCH_LIST_LENGTH) {
    errors.push(invalid(field, searches, `must not have more than ${MAX_SEARCH_LIST_LENGTH} characters (including spaces) in the search list`));
  }
  const wrong = searches.flatMap((search, i) => {
    if (search === '.') return [];
    const domain = search.endsWith('.') ? search.slice(0, -1) : search;
    return invalidEach(`${field}[${i}]`, domain, underscoredSubdomainProblems(domain));
  });
  return [...errors, ...wrong];
}

export const validateHostAliases = (aliases: readonly HostAlias[], field: string): FieldError[] =>
  aliases.flatMap(({ ip, hostnames = [] }, i) => [
    ...validateLegacyIp(ip, `${field}[${i}].ip`),
    ...hostnames.flatMap((hostname, j) => dnsSubdomain(hostname, `${field}[${i}].hostnames[${j}]`)),
  ]);

const MAX_HOSTNAME_LENGTH = 64;

export function validateHostnameOverride(spec: PodSpec, field: string): FieldError[] {
  const { hostnameOverride: hostname } = spec;
  if (hostname === undefined) return [];
  const errors: FieldError[] = [];
  if (spec.setHostnameAsFQDN === true) errors.push(forbidden(field, 'may not be specified when setHostnameAsFQDN is true'));
  if (spec.hostNetwork === true) errors.push(forbidden(field, 'may not be specified when hostNetwork is true'));
  if (byteLength(hostname) > MAX_HOSTNAME_LENGTH) errors.push(tooLong(field, MAX_HOSTNAME_LENGTH));
  return [...errors, ...dnsSubdomain(hostname, field)];
}

/** On the node's network a port is the same inside and outside. In a template that may still be left out. */
export function validateHostNetworkPorts(spec: PodSpec, field: string, isPod: boolean): FieldError[] {
  if (spec.hostNetwork !== true) return [];
  return (spec.containers ?? []).flatMap((container, i) =>
    (container.ports ?? []).flatMap(({ hostPort = 0, containerPort }, j) =>
      (isPod || hostPort !== 0) && hostPort !== containerPort
        ? [invalid(`${field}.containers[${i}].ports[${j}].hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true')]
        : [],
    ),
  );
}

/** A pod with users of its own shares nothing else with the node. */
export function validateOwnUsers(spec: PodSpec, field: string): FieldError[] {
  if (spec.hostUsers !== false) return [];
  const detail = 'when `hostUsers` is false';
  const errors: FieldError[] = [];
  if (spec.hostNetwork === true) errors.push(forbidden(`${field}.hostNetwork`, detail));
  if (spec.hostPID === true) errors.push(forbidden(`${field}.HostPID`, detail));
  if (spec.hostIPC === true) errors.push(forbidden(`${field}.HostIPC`, detail));
  for (const { container, field: at } of allContainers(spec, field)) {
    if ((container.volumeDevices ?? []).length > 0) errors.push(forbidden(`${at}.volumeDevices`, detail));
  }
  return errors;
}
