import { type FieldError, forbidden, invalid } from '../../field-error.ts';
import type { AppArmorProfile, ObjectMeta, PodSpec, SeccompProfile, Toleration } from '../../generated/types.ts';
import { localDescendingPath } from '../../validation/paths.ts';
import { entry } from '../../validation/field-rules.ts';
import { allContainers } from './pod-parts.ts';
import { validateTolerations } from './pod-scheduling.ts';

/** Annotations that mean something to Kubernetes itself; some were fields before their time. */
export const MIRROR_POD = 'kubernetes.io/config.mirror';
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
export const POD_SECCOMP = 'seccomp.security.alpha.kubernetes.io/pod';
export const CONTAINER_SECCOMP_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';
export const APP_ARMOR_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';

type Annotations = Readonly<Record<string, string>>;

export function validatePodAnnotations(annotations: Annotations | undefined, spec: PodSpec, field: string): FieldError[] {
  if (annotations === undefined) return [];
  const errors: FieldError[] = [];
  const mirror = entry(annotations, MIRROR_POD);
  if (mirror !== undefined && (spec.nodeName ?? '') === '') {
    errors.push(invalid(`${field}[${MIRROR_POD}]`, mirror, 'must set spec.nodeName if mirror pod annotation is set'));
  }
  const tolerations = entry(annotations, TOLERATIONS) ?? '';
  const wrongTolerations = tolerations === '' ? [] : validateTolerationsText(tolerations, field);
  const cost = entry(annotations, DELETION_COST);
  const isCost = cost === undefined || isInt32(cost);
  return [
    ...errors,
    ...wrongTolerations,
    ...(isCost ? [] : [invalid(`${field}[${DELETION_COST}]`, cost, 'must be a 32bit integer')]),
    ...validateSeccompAnnotations(annotations, field),
    ...validateAppArmorAnnotations(annotations, spec, field),
  ];
}

/** No plus sign, no leading zeros. */
const isInt32 = (text: string): boolean => /^(0|-?[0-9]+)$/.test(text) && !/^0./.test(text) && Math.abs(Number(text) + 0.5) < 2 ** 31;

function validateTolerationsText(text: string, field: string): FieldError[] {
  try {
    const tolerations: unknown = JSON.parse(text);
    if (Array.isArray(tolerations)) return validateTolerations(tolerations as Toleration[], `${field}.${TOLERATIONS}`);
  } catch {
    // Said below.
  }
  return [invalid(field, TOLERATIONS, 'must be a list of tolerations in JSON')];
}

function validateSeccompAnnotations(annotations: Annotations, field: string): FieldError[] {
  const podWide = entry(annotations, POD_SECCOMP);
  const keys = [...(podWide === undefined ? [] : [POD_SECCOMP]), ...Object.keys(annotations).filter((key) => key.startsWith(CONTAINER_SECCOMP_PREFIX))];
  return keys.flatMap((key) => {
    const profile = annotations[key] ?? '';
    if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return [];
    if (profile.startsWith('localhost/')) return localDescendingPath(profile.slice('localhost/'.length), `${field}.${key}`);
    return [invalid(`${field}.${key}`, profile, 'must be a valid seccomp profile')];
  });
}

function validateAppArmorAnnotations(annotations: Annotations, spec: PodSpec, field: string): FieldError[] {
  const names = new Set(allContainers(spec, '').map(({ container }) => container.name));
  return Object.entries(annotations).flatMap(([key, profile]) => {
    if (!key.startsWith(APP_ARMOR_PREFIX)) return [];
    const name = key.slice(APP_ARMOR_PREFIX.length);
    const errors = names.has(name) ? [] : [invalid(`${field}[${key}]`, name, 'container not found')];
    const isProfile = profile === '' || profile === 'runtime/default' || profile === 'unconfined' || profile.startsWith('localhost/');
    return isProfile ? errors : [...errors, invalid(`${field}[${key}]`, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`)];
  });
}

/** Annotations that stay as they were when the pod was made. */
export function validateAnnotationChanges(annotations: Annotations = {}, old: Annotations = {}, field = 'metadata.annotations'): FieldError[] {
  const fixed: readonly [matches: (key: string) => boolean, what: string][] = [
    [(key) => key.startsWith(APP_ARMOR_PREFIX), 'AppArmor annotations'],
    [(key) => key === MIRROR_POD, 'mirror pod annotation'],
  ];
  const refuse = (keys: readonly string[], verb: string): FieldError[] =>
    keys.flatMap((key) => fixed.flatMap(([matches, what]) => (matches(key) ? [forbidden(`${field}[${key}]`, `may not ${verb} ${what}`)] : [])));
  const gone = Object.keys(old).filter((key) => entry(annotations, key) !== old[key]);
  const added = Object.keys(annotations).filter((key) => entry(old, key) === undefined);
  return [...refuse(gone, 'remove or update'), ...refuse(added, 'add')];
}

/** Where a profile is given both as annotation and as field, both must say the same. */
export function validateProfilesAgree(metadata: ObjectMeta, spec: PodSpec, field: string): FieldError[] {
  const { annotations } = metadata;
  if (annotations === undefined) return [];
  const podSeccomp = entry(annotations, POD_SECCOMP);
  const errors: FieldError[] = [];
  if (podSeccomp !== undefined)
    errors.push(...compareProfile('seccomp', podSeccomp, { profile: spec.securityContext?.seccompProfile, field: `${field}.securityContext` }));
  const containers = allContainers(spec, field);
  for (const { container, field: at } of containers) {
    const annotation = entry(annotations, CONTAINER_SECCOMP_PREFIX + container.name);
    const profile = container.securityContext?.seccompProfile;
    if (annotation !== undefined) errors.push(...compareProfile('seccomp', annotation, { profile, field: `${at}.securityContext` }));
  }
  if (spec.os?.name === 'windows') return errors;
  for (const { container, field: at } of containers) {
    const annotation = entry(annotations, APP_ARMOR_PREFIX + container.name);
    const profile = container.securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    if (annotation !== undefined) errors.push(...compareProfile('apparmor', annotation, { profile, field: `${at}.securityContext` }));
  }
  return errors;
}

interface GivenProfile {
  readonly profile: SeccompProfile | AppArmorProfile | undefined;
  /** The security context it is in. */
  readonly field: string;
}

function compareProfile(kind: 'seccomp' | 'apparmor', annotation: string, { profile, field }: GivenProfile): FieldError[] {
  if (profile === undefined) return [];
  const at = `${field}.${kind === 'seccomp' ? 'seccompProfile' : 'appArmorProfile'}`;
  const otherType = forbidden(`${at}.type`, `${kind} type in annotation and field must match`);
  switch (profile.type) {
    case 'Unconfined':
      return annotation === 'unconfined' ? [] : [otherType];
    case 'RuntimeDefault':
      return annotation === 'runtime/default' || (kind === 'seccomp' && annotation === 'docker/default') ? [] : [otherType];
    case 'Localhost':
      if (!annotation.startsWith('localhost/')) return [otherType];
      return annotation.slice('localhost/'.length) === profile.localhostProfile
        ? []
        : [forbidden(`${at}.localhostProfile`, `${kind} profile in annotation and field must match`)];
    default:
      return [];
  }
}
