import type { Container, Pod } from '../../api/generated/types.ts';
import { quantityMilliValue, quantityValue } from '../../api/quantity.ts';
import { withoutTrailing } from '../../api/trailing.ts';
import type { ContainerDevice, ContainerMount } from '../contract.ts';
import { appArmorName, appArmorProfile } from '../security/app-armor.ts';
import { sysctlPath } from '../security/sysctls.ts';
import { podLimitsOf } from './pod-limits.ts';
import { resolvConfOf } from './resolv-conf.ts';
import type { ContainerLimits, ContainerSpec, ContainerUser, EnvVariable, PodSandboxSpec } from '../runtime.ts';

export interface ResolvedContainer {
  readonly pod: Pod;
  readonly container: Container;
  readonly attempt: number;
  readonly env: readonly EnvVariable[];
  readonly expand: (text: string) => string;
  readonly mounts: readonly ContainerMount[];
  readonly devices: readonly ContainerDevice[];
  /** Of the pod's volumes. */
  readonly groups: readonly number[];
  /** Undefined: unconfined. */
  readonly seccompFilter: string | undefined;
}

export function containerSpecOf({ pod, container, attempt, env, expand, mounts, devices, groups, seccompFilter }: ResolvedContainer): ContainerSpec {
  const { command = [], args = [], securityContext = {}, terminationMessagePolicy } = container;
  return {
    podUid: pod.metadata.uid ?? '',
    name: container.name,
    attempt,
    image: container.image ?? '',
    command: command.map(expand),
    args: args.map(expand),
    env: [{ name: 'HOSTNAME', value: hostnameOf(pod) }, ...env],
    workingDir: container.workingDir ?? '',
    user: userOf(pod, container, groups),
    mounts,
    devices,
    resources: limitsOf(container),
    readOnlyRoot: securityContext.readOnlyRootFilesystem ?? false,
    ...writableOf(container),
    privileged: securityContext.privileged ?? false,
    capabilities: { add: securityContext.capabilities?.add ?? [], drop: securityContext.capabilities?.drop ?? [] },
    noNewPrivileges: securityContext.allowPrivilegeEscalation === false,
    ...(seccompFilter === undefined ? {} : { seccompFilter }),
    ...confinementOf(pod, container),
    hostPid: pod.spec.hostPID ?? false,
    ...targetOf(pod, container),
    stdin: container.stdin ?? false,
    stdinOnce: container.stdinOnce ?? false,
    tty: container.tty ?? false,
    terminationMessage: { path: container.terminationMessagePath ?? '/dev/termination-log', orLastLog: terminationMessagePolicy === 'FallbackToLogsOnError' },
  };
}

export interface SandboxSettings {
  /** The pod's own; undefined: it shares the host's network. */
  readonly address: string | undefined;
  readonly clusterDomain: string;
  readonly nameServer: string | undefined;
  /** As in `PodSandboxSpec`. */
  readonly fromHostLoopback?: boolean;
}

export function sandboxSpecOf(pod: Pod, { address, clusterDomain, nameServer, fromHostLoopback = false }: SandboxSettings): PodSandboxSpec {
  const { uid = '', namespace = '', name = '' } = pod.metadata;
  return {
    uid,
    namespace,
    name,
    hostname: hostnameOf(pod),
    address,
    fromHostLoopback,
    hostIpc: pod.spec.hostIPC === true,
    sharesProcesses: pod.spec.shareProcessNamespace === true,
    sysctls: (pod.spec.securityContext?.sysctls ?? []).map((each) => ({ path: sysctlPath(each.name), value: each.value })),
    resources: podLimitsOf(pod),
    resolvConf: resolvConfOf(pod, { clusterDomain, nameServer }),
    hosts: hostsFile(pod, address, clusterDomain),
  };
}

export function limitsOf({ resources }: Container): ContainerLimits {
  const { requests = {}, limits = {} } = resources ?? {};
  const milli = (amount: string | undefined) => (amount === undefined ? undefined : Number(quantityMilliValue(amount)));
  return {
    cpuMilli: milli(limits['cpu']),
    cpuRequestMilli: milli(requests['cpu'] ?? limits['cpu']),
    memoryBytes: limits['memory'] === undefined ? undefined : Number(quantityValue(limits['memory'])),
  };
}

function writableOf({ resources }: Container): Pick<ContainerSpec, 'writableBytes'> {
  const limit = resources?.limits?.['ephemeral-storage'];
  return limit === undefined ? {} : { writableBytes: Number(quantityValue(limit)) };
}

/** The profile is loaded: the container waits until it is. */
function confinementOf(pod: Pod, container: Container): Pick<ContainerSpec, 'appArmorProfile'> {
  const asked = appArmorProfile(pod, container);
  const isPrivileged = container.securityContext?.privileged === true;
  const name = asked === undefined ? undefined : appArmorName(asked, isPrivileged);
  return name === undefined ? {} : { appArmorProfile: name };
}

/** An ephemeral container may share the process namespace of its target. */
function targetOf({ spec }: Pod, { name }: Container): Pick<ContainerSpec, 'processesOf'> {
  const target = (spec.ephemeralContainers ?? []).find((each) => each.name === name)?.targetContainerName ?? '';
  return target === '' ? {} : { processesOf: target };
}

/** The container's settings override the pod's. */
function userOf({ spec }: Pod, { securityContext: own = {} }: Container, groups: readonly number[]): ContainerUser {
  const { securityContext: ofPod = {} } = spec;
  const { fsGroup, supplementalGroups = [] } = ofPod;
  return {
    uid: own.runAsUser ?? ofPod.runAsUser,
    gid: own.runAsGroup ?? ofPod.runAsGroup,
    groups: [...new Set([...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups, ...groups])],
  };
}

/** At most 63 characters: a DNS label. */
const hostnameOf = ({ metadata, spec }: Pod): string => withoutTrailing((spec.hostname ?? metadata.name ?? '').slice(0, 63), '-.');

const ownHosts =
  '# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n';

/** /etc/hosts, as the kubelet writes it; on the host's network, what comes after the host's own lines. */
function hostsFile({ metadata, spec }: Pod, ip: string | undefined, domain: string): string {
  const host = hostnameOf({ metadata, spec } as Pod);
  const { subdomain } = spec;
  const named = subdomain === undefined || subdomain === '' ? host : `${host}.${subdomain}.${metadata.namespace ?? ''}.svc.${domain}\t${host}`;
  const aliases = (spec.hostAliases ?? []).map((alias) => `${alias.ip}\t${(alias.hostnames ?? []).join('\t')}\n`);
  return [
    ...(ip === undefined ? [] : [`${ownHosts}${ip}\t${named}\n`]),
    ...(aliases.length === 0 ? [] : ['\n# Entries added by HostAliases.\n', ...aliases]),
  ].join('');
}
