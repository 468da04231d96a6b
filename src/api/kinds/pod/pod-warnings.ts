import type { Container, ContainerPort, EphemeralContainer, ObjectMeta, Pod, PodAffinity, PodSpec, PodTemplateSpec, Volume } from '../../generated/types.ts';
import { dnsLabelProblems, labelValueProblems } from '../../validation/names.ts';
import { ipWarnings } from '../../validation/ip.ts';
import { isFractional } from '../../validation/resources.ts';
import { deprecatedNodeLabel, nodeSelectorTermWarnings } from '../deprecated-node-labels.ts';
import { claimSpecWarnings } from '../core/persistent-volume-claim.ts';
import { entry } from '../../validation/field-rules.ts';
import { APP_ARMOR_PREFIX, CONTAINER_SECCOMP_PREFIX, POD_SECCOMP } from './pod-annotations.ts';
import { allContainers, type PlacedContainer } from './pod-parts.ts';
import { appArmorProfileOf } from './pod-strategy.ts';
import { overlappingPathWarnings } from './volumes/volume-path-warnings.ts';

/** What is accepted but will hardly be what was meant. Only new pods are looked at: changes come from machines. */
export function podWarnings(pod: Pod, old: Pod | undefined): string[] {
  if (old !== undefined) return [];
  return [...nameWarnings(pod.metadata.name, "this is used in the Pod's hostname"), ...specWarnings(pod, '')];
}

export const podTemplateWarnings = (template: PodTemplateSpec, field: string): string[] => specWarnings(template, `${field}.`);

/** Names that are no DNS labels make no hostnames. `use`: what the name is used for. */
export function nameWarnings(name = '', use = 'this is used in Pod names and hostnames'): string[] {
  const problems = dnsLabelProblems(name);
  if (problems.length === 0) return [];
  return [`metadata.name: ${use}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`];
}

type Source = { readonly metadata: ObjectMeta; readonly spec: PodSpec };

/** `prefix`: 'spec.template.', or nothing for a pod. */
function specWarnings({ metadata, spec }: Source, prefix: string): string[] {
  const at = `${prefix}spec`;
  const containers = allContainers(spec, at);
  return [
    ...placementWarnings(spec, at),
    ...annotationWarnings(metadata, prefix),
    ...(spec.volumes ?? []).flatMap((volume, i) => volumeWarnings(volume, `${at}.volumes[${i}]`)),
    ...overlappingPathWarnings(spec.volumes ?? []),
    ...duplicateWarnings(spec, at),
    ...amountWarnings(spec.overhead, `${at}.overhead`),
    ...seccompWarnings({ metadata, spec }, prefix),
    ...containers.flatMap((placed) => containerWarnings(placed, { metadata, spec }, prefix)),
    ...portWarnings(containers),
    ...portNameWarnings(containers),
    ...((spec.terminationGracePeriodSeconds ?? 0) < 0
      ? [`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...affinityWarnings(spec.affinity?.podAffinity, `${at}.affinity.podAffinity`),
    ...affinityWarnings(spec.affinity?.podAntiAffinity, `${at}.affinity.podAntiAffinity`),
    ...(spec.dnsConfig?.nameservers ?? []).flatMap((server, i) => ipWarnings(server, `${at}.dnsConfig.nameservers[${i}]`)),
    ...(spec.hostAliases ?? []).flatMap(({ ip }, i) => ipWarnings(ip, `${at}.hostAliases[${i}].ip`)),
  ];
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const NO_SELECTOR = 'a null labelSelector results in matching no pod';

function placementWarnings(spec: PodSpec, at: string): string[] {
  const selected = Object.keys(spec.nodeSelector ?? {}).flatMap((key) => {
    const message = deprecatedNodeLabel(key);
    return message === undefined ? [] : [`${at}.nodeSelector[${key}]: ${message}`];
  });
  const nodes = spec.affinity?.nodeAffinity;
  const field = `${at}.affinity.nodeAffinity`;
  const needed = nodes?.[REQUIRED]?.nodeSelectorTerms ?? [];
  return [
    ...selected,
    ...needed.flatMap((term, i) => nodeSelectorTermWarnings(term, `${field}.${REQUIRED}.nodeSelectorTerms[${i}]`)),
    ...(nodes?.[PREFERRED] ?? []).flatMap(({ preference }, i) => {
      const place = `${field}.${PREFERRED}[${i}].preference`;
      const values = (preference.matchExpressions ?? []).flatMap((expression, j) =>
        (expression.values ?? []).flatMap((value, k) =>
          labelValueProblems(value).map((wrong) => `${place}.matchExpressions[${j}].values[${k}]: ${value} is invalid, ${wrong}`),
        ),
      );
      return [...nodeSelectorTermWarnings(preference, place), ...values];
    }),
    ...(spec.topologySpreadConstraints ?? []).flatMap(({ topologyKey, labelSelector }, i) => {
      const message = deprecatedNodeLabel(topologyKey);
      const place = `${at}.topologySpreadConstraints[${i}]`;
      return [
        ...(message === undefined ? [] : [`${place}.topologyKey: ${topologyKey} is ${message}`]),
        ...(labelSelector === undefined ? [`${place}.labelSelector: ${NO_SELECTOR}`] : []),
      ];
    }),
  ];
}

const affinityWarnings = (affinity: PodAffinity | undefined, at: string): string[] => [
  ...(affinity?.[REQUIRED] ?? []).flatMap((term, i) => (term.labelSelector === undefined ? [`${at}.${REQUIRED}[${i}].labelSelector: ${NO_SELECTOR}`] : [])),
  ...(affinity?.[PREFERRED] ?? []).flatMap(({ podAffinityTerm }, i) =>
    podAffinityTerm.labelSelector === undefined ? [`${at}.${PREFERRED}[${i}].podAffinityTerm.labelSelector: ${NO_SELECTOR}`] : [],
  ),
];

const deprecatedAnnotations: readonly [key: string, message: string][] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
];

const annotationWarnings = ({ annotations }: ObjectMeta, prefix: string): string[] =>
  deprecatedAnnotations.filter(([key]) => entry(annotations, key) !== undefined).map(([key, message]) => `${prefix}metadata.annotations[${key}]: ${message}`);

const SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead';

function seccompWarnings({ metadata, spec }: Source, prefix: string): string[] {
  const isReplaced = spec.securityContext?.seccompProfile !== undefined;
  if (isReplaced || entry(metadata.annotations, POD_SECCOMP) === undefined) return [];
  return [`${prefix}metadata.annotations[${POD_SECCOMP}]: ${SECCOMP}`];
}

const retiredSources: readonly [key: keyof Volume, since: string, name?: string][] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+', 'storageOS'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

function volumeWarnings(volume: Volume, at: string): string[] {
  const template = volume.ephemeral?.volumeClaimTemplate;
  return [
    ...retiredSources.filter(([key]) => volume[key] !== undefined).map(([key, since, name]) => `${at}.${name ?? key}: ${since}`),
    ...(template === undefined ? [] : claimSpecWarnings(template.spec, `${at}.ephemeral.volumeClaimTemplate.spec`)),
  ];
}

function duplicateWarnings(spec: PodSpec, at: string): string[] {
  const secrets = (spec.imagePullSecrets ?? []).map(({ name = '' }) => name);
  return [
    ...repeated((spec.hostAliases ?? []).map(({ ip }) => ip)).map(([ip, i]) => `${at}.hostAliases[${i}].ip: duplicate ip ${JSON.stringify(ip)}`),
    ...repeated(secrets).map(([name, i]) => `${at}.imagePullSecrets[${i}].name: duplicate name ${JSON.stringify(name)}`),
    ...secrets.flatMap((name, i) => (name === '' ? [`${at}.imagePullSecrets[${i}].name: invalid empty name ""`] : [])),
  ];
}

/** The values that occurred before, with their positions. */
function repeated(values: readonly string[]): [value: string, position: number][] {
  const seen = new Set<string>();
  return values.flatMap((value, i): [string, number][] => {
    const isRepeated = seen.has(value);
    seen.add(value);
    return isRepeated ? [[value, i]] : [];
  });
}

/** Bytes cannot be split. */
const amountWarnings = (list: Readonly<Record<string, string>> | undefined, at: string): string[] =>
  ['memory', 'ephemeral-storage'].flatMap((name) => {
    const amount = entry(list, name);
    if (amount === undefined || !isFractional(amount)) return [];
    return [`${at}[${name}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`];
  });

function containerWarnings({ container, field }: PlacedContainer, { metadata, spec }: Source, prefix: string): string[] {
  const warnings: string[] = [];
  const seccomp = CONTAINER_SECCOMP_PREFIX + container.name;
  const hasSeccomp = container.securityContext?.seccompProfile !== undefined;
  if (!hasSeccomp && entry(metadata.annotations, seccomp) !== undefined) warnings.push(`${prefix}metadata.annotations[${seccomp}]: ${SECCOMP}`);
  const appArmor = APP_ARMOR_PREFIX + container.name;
  const annotation = entry(metadata.annotations, appArmor);
  const isTemplate = prefix !== '';
  if (isTemplate && annotation !== undefined && container.securityContext?.appArmorProfile === undefined && !isPodWideProfile(annotation, spec)) {
    warnings.push(`${prefix}metadata.annotations[${appArmor}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
  }
  const { limits, requests } = container.resources;
  for (const name of ['memory', 'ephemeral-storage']) {
    warnings.push(...amountWarnings(only(limits, name), `${field}.resources.limits`), ...amountWarnings(only(requests, name), `${field}.resources.requests`));
  }
  return [...warnings, ...hiddenVariableWarnings(container, field)];
}

function isPodWideProfile(annotation: string, spec: PodSpec): boolean {
  const [podWide, own] = [spec.securityContext?.appArmorProfile, appArmorProfileOf(annotation)];
  return podWide !== undefined && own !== undefined && podWide.type === own.type && podWide.localhostProfile === own.localhostProfile;
}

function only(list: Readonly<Record<string, string>> | undefined, name: string): Record<string, string> {
  const amount = entry(list, name);
  return amount === undefined ? {} : { [name]: amount };
}

/** A variable that is set again should build on what it was: X="$(X)more". */
function hiddenVariableWarnings({ env = [] }: Container | EphemeralContainer, field: string): string[] {
  const seen = new Set<string>();
  return env.flatMap(({ name, value = '', valueFrom }, i) => {
    const isFirst = !seen.has(name);
    seen.add(name);
    const reference = `$(${name})`;
    if (isFirst || (valueFrom === undefined && value !== reference && value.includes(reference))) return [];
    return [`${field}.env[${i}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`];
  });
}

interface PlacedPort {
  readonly port: ContainerPort;
  readonly at: string;
}

const portsOf = (containers: readonly PlacedContainer[]): PlacedPort[] =>
  containers.flatMap(({ container, field }) => (container.ports ?? []).map((port, i) => ({ port, at: `${field}.ports[${i}]` })));

/** Each port is compared with those before it: a list of a few is for people to read, a longer one is not read. */
const MAX_PORT_WARNINGS = 100;

function portWarnings(containers: readonly PlacedContainer[]): string[] {
  const seen = new Map<string, PlacedPort[]>();
  const warnings: string[] = [];
  for (const { port, at } of portsOf(containers)) {
    if (warnings.length >= MAX_PORT_WARNINGS) break;
    const { name = '', hostPort = 0, containerPort, protocol = '', hostIP = '' } = port;
    const shown = `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
    if (hostIP !== '' && hostPort === 0) warnings.push(`${at}: hostIP set without hostPort: ${shown}`);
    const key = `${containerPort}/${protocol}`;
    const others = seen.get(key) ?? [];
    for (const other of others) {
      const conflict = portConflict(port, other.port);
      if (conflict !== undefined) warnings.push(`${at}: ${conflict} port definition with ${other.at}`);
    }
    others.push({ port, at });
    seen.set(key, others);
  }
  return warnings;
}

function portConflict(a: ContainerPort, b: ContainerPort): string | undefined {
  const [portA = 0, portB = 0, ipA = '', ipB = ''] = [a.hostPort, b.hostPort, a.hostIP, b.hostIP];
  if (ipA === ipB && portA === portB) return 'duplicate';
  if (portA === 0 || portB === 0) return 'overlapping';
  return portA === portB && (ipA === '') !== (ipB === '') ? 'dangerously ambiguous' : undefined;
}

function portNameWarnings(containers: readonly PlacedContainer[]): string[] {
  const first = new Map<string, string>();
  return portsOf(containers).flatMap(({ port: { name = '' }, at }) => {
    if (name === '') return [];
    const other = first.get(name);
    if (other === undefined) first.set(name, at);
    if (other === undefined) return [];
    return [`${at}: duplicate port name ${JSON.stringify(name)} with ${other}, services and probes that select ports by name will use ${other}`];
  });
}
