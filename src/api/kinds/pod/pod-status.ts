import { duplicate, type FieldError, forbidden, invalid } from '../../field-error.ts';
import type { Container, ContainerStatus, Pod, PodCondition, PodResourceClaimStatus, PodSpec, PodStatus } from '../../generated/types.ts';
import { userOrGroupIdProblems } from '../../validation/formats.ts';
import { isIpv4, parseIp, validateLegacyIp } from '../../validation/ip.ts';
import { immutable } from '../../validation/metadata.ts';
import { dnsSubdomain, invalidEach, qualifiedName } from '../../validation/field-rules.ts';
import { validateAnnotationChanges, validatePodAnnotations } from './pod-annotations.ts';

/** What a node or the scheduler may not report of a pod. */
export function validatePodStatusUpdate(pod: Pod, old: Pod): FieldError[] {
  const { metadata, spec, status } = pod;
  return [
    ...validateAnnotationChanges(metadata.annotations, old.metadata.annotations),
    ...validatePodAnnotations(metadata.annotations, spec, 'metadata.annotations'),
    ...validateConditions(status.conditions ?? [], 'status.conditions'),
    ...validateNomination(pod, old, 'status.nominatedNodeName'),
    ...((status.observedGeneration ?? 0) < 0 ? [invalid('status.observedGeneration', status.observedGeneration, 'must be a non-negative integer')] : []),
    ...immutable(status.qosClass ?? '', old.status.qosClass ?? '', 'status.qosClass'),
    ...validateTransitions(status, old),
    ...validateClaimStatuses(status.resourceClaimStatuses ?? [], spec, 'status.resourceClaimStatuses'),
    ...validateAddresses(status, old.status),
    ...containerLists.flatMap((list) => validateUsers(status[list] ?? [], `status.${list}`, spec.os?.name)),
  ];
}

const containerLists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;
const systemConditions = ['PodScheduled', 'Ready', 'Initialized'];

const validateConditions = (conditions: readonly PodCondition[], field: string): FieldError[] =>
  conditions.flatMap(({ type, observedGeneration = 0 }, i) => [
    ...(observedGeneration < 0 ? [invalid(`${field}[${i}].observedGeneration`, observedGeneration, 'must be a non-negative integer')] : []),
    ...(systemConditions.includes(type) ? [] : qualifiedName(type, `${field}[${i}].Type`)),
  ]);

/** The node that the scheduler clears for a pod; once the pod has its node there is nothing to nominate. */
function validateNomination(pod: Pod, old: Pod, field: string): FieldError[] {
  const { nominatedNodeName: node = '' } = pod.status;
  if (node === '' || node === old.status.nominatedNodeName) return [];
  const errors = dnsSubdomain(node, field);
  return (old.spec.nodeName ?? '') === '' ? errors : [...errors, forbidden(field, 'may not be set on pods that are already bound to a node')];
}

/** A container that ended stays so, unless it is one that is started again. */
function validateTransitions(status: PodStatus, { spec, status: before }: Pod): FieldError[] {
  const mayAllRestart = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some((container) =>
    (container.restartPolicyRules ?? []).some((rule) => rule.action === 'RestartAllContainers'),
  );
  const restarts = (containers: readonly Container[]) => {
    const byName = new Map(containers.map((container) => [container.name, container]));
    return (name: string, exitCode: number): boolean => {
      const container = byName.get(name);
      return container !== undefined && mayRestart(container, spec, exitCode);
    };
  };
  const rules = {
    containerStatuses: restarts(spec.containers ?? []),
    initContainerStatuses: restarts(spec.initContainers ?? []),
    ephemeralContainerStatuses: () => false,
  };
  return containerLists.flatMap((list) => {
    if (mayAllRestart && list !== 'ephemeralContainerStatuses') return [];
    return validateStillEnded(status[list] ?? [], before[list] ?? [], { field: `status.${list}`, mayRestart: rules[list] });
  });
}

interface RestartRule {
  readonly field: string;
  readonly mayRestart: (container: string, exitCode: number) => boolean;
}

function validateStillEnded(statuses: readonly ContainerStatus[], old: readonly ContainerStatus[], rule: RestartRule): FieldError[] {
  const running = new Set(statuses.filter((status) => status.state.terminated === undefined).map((status) => status.name));
  return old.flatMap(({ name, state }, i) => {
    if (state.terminated === undefined || !running.has(name) || rule.mayRestart(name, state.terminated.exitCode)) return [];
    return [forbidden(`${rule.field}[${i}].state`, 'may not be transitioned to non-terminated state')];
  });
}

function mayRestart(container: Container, { restartPolicy: podPolicy }: PodSpec, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules = [] } = container;
  if (restartPolicy !== undefined) {
    const rule = restartPolicyRules.find(
      ({ exitCodes }) => exitCodes !== undefined && (exitCodes.values ?? []).includes(exitCode) === (exitCodes.operator === 'In'),
    );
    if (rule !== undefined) return true;
  }
  const policy = restartPolicy ?? podPolicy;
  return policy === 'OnFailure' ? exitCode !== 0 : policy !== 'Never';
}

function validateClaimStatuses(statuses: readonly PodResourceClaimStatus[], spec: PodSpec, field: string): FieldError[] {
  const seen = new Set<string>();
  const known = new Set((spec.resourceClaims ?? []).map((claim) => claim.name));
  return statuses.flatMap(({ name, resourceClaimName }, i) => {
    const errors: FieldError[] = [];
    if (!known.has(name)) errors.push(invalid(`${field}[${i}].name`, name, 'must match the name of an entry in `spec.resourceClaims`'));
    if (seen.has(name)) errors.push(duplicate(`${field}[${i}].name`, name));
    seen.add(name);
    return resourceClaimName === undefined ? errors : [...errors, ...dnsSubdomain(resourceClaimName, `${field}[${i}].resourceClaimName`)];
  });
}

function validateAddresses(status: PodStatus, old: PodStatus): FieldError[] {
  const { podIPs = [], hostIPs = [], hostIP = '' } = status;
  const addresses = (list: readonly { ip: string }[] | undefined): string[] => (list ?? []).map(({ ip }) => ip);
  const first = hostIPs[0]?.ip;
  const wrongFirst = first !== undefined && first !== hostIP ? [invalid('status.hostIPs[0].ip', first, 'must be equal to `hostIP`')] : [];
  return [
    ...validateAddressList(addresses(podIPs), 'status.podIPs', addresses(old.podIPs)),
    ...wrongFirst,
    ...validateAddressList(addresses(hostIPs), 'status.hostIPs', addresses(old.hostIPs)),
  ];
}

/** One address of each family at most. */
function validateAddressList(addresses: readonly string[], field: string, old: readonly string[]): FieldError[] {
  const errors = addresses.flatMap((address, i) => validateLegacyIp(address, `${field}[${i}]`, old));
  if (addresses.length <= 1) return errors;
  const families = new Set(addresses.map((address) => parseIp(address)).map((ip) => ip !== undefined && isIpv4(ip)));
  if (addresses.length === 2 && families.size === 2) return errors;
  const shown = addresses.map((address) => ({ IP: address }));
  return [...errors, invalid(field, shown, 'may specify no more than one IP for each IP family')];
}

function validateUsers(statuses: readonly ContainerStatus[], field: string, os: string | undefined): FieldError[] {
  return statuses.flatMap(({ user }, i) => {
    const linux = user?.linux;
    const at = `${field}[${i}].user.linux`;
    if (linux === undefined) return [];
    if (os === 'windows') return [forbidden(at, 'cannot be set for a windows pod')];
    const groups = (linux.supplementalGroups ?? []).flatMap((gid, g) => invalidEach(`${at}.supplementalGroups[${g}]`, gid, userOrGroupIdProblems(gid)));
    return [
      ...invalidEach(`${at}.uid`, linux.uid, userOrGroupIdProblems(linux.uid)),
      ...invalidEach(`${at}.gid`, linux.gid, userOrGroupIdProblems(linux.gid)),
      ...groups,
    ];
  });
}
