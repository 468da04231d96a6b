import { duplicate, type FieldError, invalid, notOneOf, notSupported, required, tooLong } from '../../../field-error.ts';
import type { AppArmorProfile, PodSecurityContext, PodSpec, SeccompProfile, SecurityContext } from '../../../generated/types.ts';
import { userOrGroupIdProblems } from '../../../validation/formats.ts';
import { localDescendingPath } from '../../../validation/paths.ts';
import { byteLength } from '../../../validation/text.ts';
import { invalidEach } from '../../../validation/field-rules.ts';
import { internalForm } from '../internal-form.ts';
import { sysctlNamespace } from './sysctls.ts';
import { validateWindowsOptions } from './windows-options.ts';

/** `hostUsers`: the pod's users are those of the node. */
export function validateSecurityContext(context: SecurityContext, field: string, hostUsers: boolean): FieldError[] {
  return [
    ...validateIds({ runAsUser: context.runAsUser, runAsGroup: context.runAsGroup }, field),
    ...validateProcMount(context.procMount, `${field}.procMount`, hostUsers),
    ...validateSeccompProfile(context.seccompProfile, `${field}.seccompProfile`),
    ...validatePrivileges(context, field),
    ...validateWindowsOptions(context.windowsOptions, `${field}.windowsOptions`),
    ...validateAppArmorProfile(context.appArmorProfile, `${field}.appArmorProfile`),
  ];
}

const validateIds = (ids: Readonly<Record<string, number | undefined>>, field: string): FieldError[] =>
  Object.entries(ids).flatMap(([name, id]) => (id === undefined ? [] : invalidEach(`${field}.${name}`, id, userOrGroupIdProblems(id))));

const procMounts = ['Default', 'Unmasked'];

function validateProcMount(procMount: string | undefined, field: string, hostUsers: boolean): FieldError[] {
  if (procMount === undefined) return [];
  if (!procMounts.includes(procMount)) return [notOneOf(field, procMount, procMounts)];
  return hostUsers && procMount === 'Unmasked' ? [invalid(field, procMount, '`hostUsers` must be false to use `Unmasked`')] : [];
}

function validatePrivileges(context: SecurityContext, field: string): FieldError[] {
  if (context.allowPrivilegeEscalation !== false) return [];
  const shown = internalForm('SecurityContext', context);
  const errors: FieldError[] = [];
  if (context.privileged === true) errors.push(invalid(field, shown, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'));
  for (const capability of context.capabilities?.add ?? []) {
    if (capability !== 'CAP_SYS_ADMIN') continue;
    errors.push(invalid(field, shown, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'));
  }
  return errors;
}

const seccompTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function validateSeccompProfile(profile: SeccompProfile | undefined, field: string): FieldError[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(`${field}.type`, 'type is required when seccompProfile is set'));
  else if (!seccompTypes.includes(type)) errors.push(notOneOf(`${field}.type`, type, seccompTypes));
  const at = `${field}.localhostProfile`;
  if (type !== 'Localhost') {
    return localhostProfile === undefined
      ? errors
      : [...errors, invalid(at, internalForm('SeccompProfile', profile), 'can only be set when seccomp type is Localhost')];
  }
  if (localhostProfile === undefined) return [...errors, required(at, 'must be set when seccomp type is Localhost')];
  return [...errors, ...localDescendingPath(localhostProfile, at)];
}

const appArmorTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const MAX_PATH_LENGTH = 4095;

export function validateAppArmorProfile(profile: AppArmorProfile | undefined, field: string): FieldError[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  const at = `${field}.localhostProfile`;
  switch (type) {
    case 'Localhost':
      return validateLocalAppArmor(localhostProfile, at);
    case 'RuntimeDefault':
    case 'Unconfined':
      return localhostProfile === undefined ? [] : [invalid(at, localhostProfile, 'can only be set when AppArmor type is Localhost')];
    case '':
      return [required(`${field}.type`, 'type is required when appArmorProfile is set')];
    default:
      return [notOneOf(`${field}.type`, type, appArmorTypes)];
  }
}

function validateLocalAppArmor(profile: string | undefined, field: string): FieldError[] {
  if (profile === undefined) return [required(field, 'must be set when AppArmor type is Localhost')];
  const errors: FieldError[] = [];
  if (profile.trim() !== profile) errors.push(invalid(field, profile, 'must not be padded with whitespace'));
  else if (profile === '') errors.push(required(field, 'must be set when AppArmor type is Localhost'));
  return byteLength(profile) > MAX_PATH_LENGTH ? [...errors, tooLong(field, MAX_PATH_LENGTH)] : errors;
}

const fsGroupChangePolicies = ['Always', 'OnRootMismatch'];
const supplementalGroupsPolicies = ['Merge', 'Strict'];
const seLinuxChangePolicies = ['MountOption', 'Recursive'];

/** The security context of a pod. Where it shares namespaces with the node is said beside it, in the pod itself. */
export function validatePodSecurityContext(context: PodSecurityContext, field: string, pod: PodSpec): FieldError[] {
  const { fsGroup, runAsUser, runAsGroup, supplementalGroups = [] } = context;
  const errors = validateIds({ fsGroup, runAsUser, runAsGroup }, field);
  supplementalGroups.forEach((id, i) => errors.push(...invalidEach(`${field}.supplementalGroups[${i}]`, id, userOrGroupIdProblems(id))));
  if (pod.shareProcessNamespace === true && pod.hostPID === true) {
    errors.push(invalid(`${field}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled'));
  }
  return [
    ...errors,
    ...validateSysctls(context, `${field}.sysctls`, pod),
    ...oneOf(context.fsGroupChangePolicy, fsGroupChangePolicies, `${field}.fsGroupChangePolicy`),
    ...validateSeccompProfile(context.seccompProfile, `${field}.seccompProfile`),
    ...validateWindowsOptions(context.windowsOptions, `${field}.windowsOptions`),
    ...validateAppArmorProfile(context.appArmorProfile, `${field}.appArmorProfile`),
    ...oneOf(context.supplementalGroupsPolicy, supplementalGroupsPolicies, `${field}.supplementalGroupsPolicy`),
    ...oneOf(context.seLinuxChangePolicy, seLinuxChangePolicies, `${field}.seLinuxChangePolicy`),
  ];
}

const oneOf = (value: string | undefined, allowed: readonly string[], field: string): FieldError[] =>
  value === undefined || allowed.includes(value) ? [] : [notSupported(field, value, allowed)];

const MAX_SYSCTL_LENGTH = 253;
const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlFormat = `^(${sysctlSegment}[\\./])*${sysctlSegment}$`;
const sysctlName = new RegExp(sysctlFormat);
const sysctlProblem = `must have at most ${MAX_SYSCTL_LENGTH} characters and match regex ${sysctlFormat}`;

function validateSysctls({ sysctls = [] }: PodSecurityContext, field: string, pod: PodSpec): FieldError[] {
  const seen = new Set<string>();
  return sysctls.flatMap(({ name }, i) => {
    const at = `${field}[${i}].name`;
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(at));
    else if (name.length > MAX_SYSCTL_LENGTH || !sysctlName.test(name)) errors.push(invalid(at, name, sysctlProblem));
    else if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
    const namespace = sysctlNamespace(name);
    if (pod.hostNetwork === true && namespace === 'net') errors.push(invalid(at, name, "may not be specified when 'hostNetwork' is true"));
    else if (pod.hostIPC === true && namespace === 'ipc') errors.push(invalid(at, name, "may not be specified when 'hostIPC' is true"));
    return errors;
  });
}
