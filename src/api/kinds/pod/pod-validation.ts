import { duplicate, type FieldError, forbidden, invalid, notFound, notOneOf, notSupported, required } from '../../field-error.ts';
import type { ObjectMeta, Pod, PodResourceClaim, PodSpec, PodTemplateSpec } from '../../generated/types.ts';
import { compareQuantities, formatQuantity } from '../../quantity.ts';
import { validateLabels } from '../../validation/labels.ts';
import { validateAnnotations } from '../../validation/metadata.ts';
import { isHugePages } from '../../validation/resources.ts';
import { outOfRange } from '../../validation/text.ts';
import { imageWithoutPadding } from './container-image.ts';
import { validateContainerResources, validatePodLevelResources } from './containers/container-resources.ts';
import { dnsLabel, dnsSubdomain, entry, qualifiedName } from '../../validation/field-rules.ts';
import { internalForm } from './internal-form.ts';
import { MIRROR_POD, validatePodAnnotations, validateProfilesAgree } from './pod-annotations.ts';
import { validateAllContainers } from './containers/pod-containers.ts';
import {
  validateDnsConfig,
  validateDnsPolicy,
  validateHostAliases,
  validateHostNetworkPorts,
  validateHostnameOverride,
  validateOwnUsers,
} from './pod-network.ts';
import { allContainers } from './pod-parts.ts';
import { containerAmounts } from './pod-resources.ts';
import { wholePod } from './pod-subresource.ts';
import { validateAffinity, validateSchedulingGates, validateSpreadConstraints, validateTolerations } from './pod-scheduling.ts';
import { validateVolumes } from './volumes/pod-volumes.ts';
import { validatePodSecurityContext } from './containers/security-context.ts';
import { validateHostProcesses, validateLinuxPod, validateWindowsPod } from './containers/windows-options.ts';

/** All that is wrong with a pod by itself, new or changed. */
export function validatePod(pod: Pod): FieldError[] {
  const { metadata, spec } = pod;
  return [
    ...validatePodAnnotations(metadata.annotations, spec, 'metadata.annotations'),
    ...validatePodSpec(spec, 'spec', metadata),
    ...validateTokenVolumes(spec, 'spec'),
    ...(spec.containers ?? []).flatMap(({ image = '' }, i) => imageWithoutPadding(image, `spec.containers[${i}].image`)),
    ...(spec.initContainers ?? []).flatMap(({ image = '' }, i) => imageWithoutPadding(image, `spec.initContainers[${i}].image`)),
  ];
}

/** What only a new pod must not have. */
export function validateNewPod({ metadata, spec }: Pod): FieldError[] {
  const errors: FieldError[] = [];
  if ((spec.ephemeralContainers ?? []).length > 0) errors.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'));
  if ((spec.nodeName ?? '') !== '' && (spec.schedulingGates ?? []).length > 0) {
    errors.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  return [...errors, ...validateProfilesAgree(metadata, spec, 'spec')];
}

/** The pod in a workload. Its metadata is reported at `field` itself, as Kubernetes does. */
export function validatePodTemplate({ metadata, spec }: PodTemplateSpec, field: string): FieldError[] {
  return [
    ...validateLabels(metadata.labels, `${field}.labels`),
    ...validateAnnotations(metadata.annotations, `${field}.annotations`),
    ...validatePodAnnotations(metadata.annotations, spec, `${field}.annotations`),
    ...validatePodSpec(spec, `${field}.spec`),
    ...validateProfilesAgree(metadata, spec, `${field}.spec`),
    ...((spec.ephemeralContainers ?? []).length > 0
      ? [forbidden(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]
      : []),
  ];
}

/** `pod`: the metadata of the pod that this is the spec of; none for a template. */
function validatePodSpec(spec: PodSpec, field: string, pod?: ObjectMeta): FieldError[] {
  const volumes = validateVolumes(spec.volumes ?? [], `${field}.volumes`, {
    isPod: pod !== undefined,
    ...(pod?.name === undefined ? {} : { podName: pod.name }),
  });
  const claimNames = new Set((spec.resourceClaims ?? []).map((claim) => claim.name).filter((name) => name !== ''));
  return [
    ...(spec.terminationGracePeriodSeconds === undefined ? [required(`${field}.terminationGracePeriodSeconds`)] : []),
    ...volumes.errors,
    ...validateResourceClaims(spec.resourceClaims ?? [], `${field}.resourceClaims`, pod),
    ...validateAllContainers(spec, field, { volumes: volumes.usable, claimNames }),
    ...validatePodResources(spec, `${field}.resources`, claimNames),
    ...validateHostNetworkPorts(spec, field, pod !== undefined),
    ...validateRestartPolicy(spec.restartPolicy, `${field}.restartPolicy`),
    ...validateDnsPolicy(spec.dnsPolicy, `${field}.dnsPolicy`),
    ...validateLabels(spec.nodeSelector, `${field}.nodeSelector`),
    ...(spec.securityContext ? validatePodSecurityContext(spec.securityContext, `${field}.securityContext`, spec) : []),
    ...(spec.affinity ? validateAffinity(spec.affinity, `${field}.affinity`) : []),
    ...validateDnsConfig(spec.dnsConfig, spec.dnsPolicy, `${field}.dnsConfig`),
    ...(spec.readinessGates ?? []).flatMap((gate, i) => qualifiedName(gate.conditionType, `${field}.readinessGates[${i}].conditionType`)),
    ...validateSchedulingGates(spec.schedulingGates ?? [], `${field}.schedulingGates`),
    ...validateSpreadConstraints(spec.topologySpreadConstraints ?? [], `${field}.topologySpreadConstraints`),
    ...validateHostProcesses(spec, field),
    ...validateOwnUsers(spec, field),
    ...validateHostnameOverride(spec, `${field}.hostnameOverride`),
    ...validateReferences(spec, field),
    ...validateOs(spec, field),
    ...validateEnvironmentFiles(spec, field),
  ];
}

const restartPolicies = ['Always', 'OnFailure', 'Never'];

function validateRestartPolicy(policy: string | undefined, field: string): FieldError[] {
  if (policy === undefined || policy === '') return [required(field)];
  return restartPolicies.includes(policy) ? [] : [notOneOf(field, policy, restartPolicies)];
}

const MAX_DEADLINE_SECONDS = 2 ** 31 - 1;
const preemptionPolicies = ['PreemptLowerPriority', 'Never'];

/** Names, and what stands by itself. */
function validateReferences(spec: PodSpec, field: string): FieldError[] {
  const { serviceAccountName = '', nodeName = '', hostname = '', subdomain = '', priorityClassName = '', runtimeClassName } = spec;
  return [
    ...(serviceAccountName === '' ? [] : dnsSubdomain(serviceAccountName, `${field}.serviceAccountName`)),
    ...(nodeName === '' ? [] : dnsSubdomain(nodeName, `${field}.nodeName`)),
    ...validateDeadline(spec.activeDeadlineSeconds, `${field}.activeDeadlineSeconds`),
    ...(hostname === '' ? [] : dnsLabel(hostname, `${field}.hostname`)),
    ...(subdomain === '' ? [] : dnsLabel(subdomain, `${field}.subdomain`)),
    ...validateTolerations(spec.tolerations ?? [], `${field}.tolerations`),
    ...validateHostAliases(spec.hostAliases ?? [], `${field}.hostAliases`),
    ...(priorityClassName === '' ? [] : dnsSubdomain(priorityClassName, `${field}.priorityClassName`)),
    ...(runtimeClassName === undefined ? [] : dnsSubdomain(runtimeClassName, `${field}.runtimeClassName`)),
    ...validatePreemptionPolicy(spec.preemptionPolicy, `${field}.preemptionPolicy`),
    ...(spec.overhead === undefined ? [] : validateContainerResources({ limits: spec.overhead }, `${field}.overhead`, { claimNames: new Set() })),
  ];
}

const validateDeadline = (seconds: number | undefined, field: string): FieldError[] =>
  seconds !== undefined && (seconds < 1 || seconds > MAX_DEADLINE_SECONDS) ? [invalid(field, seconds, outOfRange(1, MAX_DEADLINE_SECONDS))] : [];

function validatePreemptionPolicy(policy: string | undefined, field: string): FieldError[] {
  if (policy === '') return [required(field)];
  return policy === undefined || preemptionPolicies.includes(policy) ? [] : [notOneOf(field, policy, preemptionPolicies)];
}

const systems = ['linux', 'windows'];

function validateOs(spec: PodSpec, field: string): FieldError[] {
  if (spec.os === undefined) return [];
  const { name } = spec.os;
  if (name === '') return [required(`${field}.os.name`)];
  if (!systems.includes(name)) return [notSupported(`${field}.os`, name, systems)];
  return name === 'linux' ? validateLinuxPod(spec, field) : validateWindowsPod(spec, field);
}

/** Claims of devices; pods that a node runs by itself cannot have any. */
function validateResourceClaims(claims: readonly PodResourceClaim[], field: string, pod: ObjectMeta | undefined): FieldError[] {
  if (entry(pod?.annotations, MIRROR_POD) !== undefined) return claims.map(() => forbidden(wholePod, 'static pods do not support resource claims'));
  const names = new Set<string>();
  return claims.flatMap((claim, i) => {
    const at = `${field}[${i}]`;
    const { name, resourceClaimName, resourceClaimTemplateName } = claim;
    const errors = name === '' ? [required(`${at}.name`)] : names.has(name) ? [duplicate(`${at}.name`, name)] : dnsLabel(name, `${at}.name`);
    names.add(name);
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      errors.push(invalid(at, internalForm('PodResourceClaim', claim), 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'));
    }
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      errors.push(invalid(at, internalForm('PodResourceClaim', claim), 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'));
    }
    if (resourceClaimName !== undefined) errors.push(...dnsSubdomain(resourceClaimName, `${at}.resourceClaimName`));
    if (resourceClaimTemplateName !== undefined) errors.push(...dnsSubdomain(resourceClaimTemplateName, `${at}.resourceClaimTemplateName`));
    return errors;
  });
}

/** Resources of the pod as a whole: its containers must fit in. */
function validatePodResources(spec: PodSpec, field: string, claimNames: ReadonlySet<string>): FieldError[] {
  const { resources } = spec;
  if (resources === undefined) return [];
  if (spec.os?.name === 'windows') return [forbidden(field, 'may not be set for a windows pod')];
  const claims = resources.claims === undefined ? [] : [forbidden(`${field}.claims`, 'claims may not be set for Resources at pod-level')];
  return [...claims, ...validatePodLevelResources(resources, field, { claimNames }), ...validateContainersFit(spec, field)];
}

function validateContainersFit(spec: PodSpec, field: string): FieldError[] {
  const { limits, requests } = spec.resources ?? {};
  const errors: FieldError[] = [];
  for (const [name, sum] of containerAmounts(spec, 'requests')) {
    const request = entry(requests, name);
    if (request === undefined || compareQuantities(sum, request) <= 0) continue;
    errors.push(invalid(`${field}.requests[${name}]`, request, `must be greater than or equal to aggregate container requests of ${formatQuantity(sum)}`));
  }
  for (const [name, sum] of containerAmounts(spec, 'limits')) {
    const limit = entry(limits, name);
    if (!isHugePages(name) || limit === undefined || compareQuantities(sum, limit) <= 0) continue;
    errors.push(invalid(`${field}.limits[${name}]`, limit, `must be greater than or equal to aggregate container limits of ${formatQuantity(sum)}`));
  }
  (spec.containers ?? []).forEach((container, i) => {
    for (const [name, own] of Object.entries(container.resources.limits ?? {})) {
      const limit = entry(limits, name);
      if (limit === undefined || compareQuantities(own, limit) <= 0) continue;
      errors.push(invalid(`${field}.containers[${i}][${name}].limits`, own, `must be less than or equal to pod limits of ${limit}`));
    }
  });
  return errors;
}

/** Tokens are those of the pod's service account; admission has given it one by now. */
function validateTokenVolumes(spec: PodSpec, field: string): FieldError[] {
  if ((spec.serviceAccountName ?? '') !== '') return [];
  return (spec.volumes ?? []).flatMap((volume, i) =>
    (volume.projected?.sources ?? []).flatMap((source, j) =>
      source.serviceAccountToken === undefined
        ? []
        : [forbidden(`${field}.volumes[${i}].projected.sources[${j}].serviceAccountToken`, 'must not be specified when serviceAccountName is not set')],
    ),
  );
}

/** A variable that is read from a file is read from an emptyDir. */
function validateEnvironmentFiles(spec: PodSpec, field: string): FieldError[] {
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  return allContainers(spec, field).flatMap(({ container, field: at }) =>
    (container.env ?? []).flatMap((variable, i) => {
      const name = variable.valueFrom?.fileKeyRef?.volumeName;
      if (name === undefined) return [];
      const place = `${at}.env[${i}].valueFrom.fileKeyRef.volumeName`;
      const volume = volumes.get(name);
      if (volume === undefined) return [notFound(place, name)];
      return volume.emptyDir === undefined ? [invalid(place, name, 'referenced volume must be of type emptyDir')] : [];
    }),
  );
}
