import { type FieldError, forbidden, invalid } from '../../../field-error.ts';
import type { PodSpec, WindowsSecurityContextOptions } from '../../../generated/types.ts';
import { dnsSubdomainProblems } from '../../../validation/names.ts';
import { byteLength } from '../../../validation/text.ts';
import { invalidEach } from '../../../validation/field-rules.ts';
import { allContainers } from '../pod-parts.ts';

const MAX_CREDENTIAL_SPEC_KIB = 64;
const MAX_DOMAIN_LENGTH = 256;
const MAX_USER_LENGTH = 104;

export function validateWindowsOptions(options: WindowsSecurityContextOptions | undefined, field: string): FieldError[] {
  if (options === undefined) return [];
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  const errors =
    gmsaCredentialSpecName === undefined
      ? []
      : invalidEach(`${field}.gmsaCredentialSpecName`, gmsaCredentialSpecName, dnsSubdomainProblems(gmsaCredentialSpecName));
  if (gmsaCredentialSpec !== undefined) {
    const at = `${field}.gmsaCredentialSpec`;
    const length = byteLength(gmsaCredentialSpec);
    if (length === 0) errors.push(invalid(at, gmsaCredentialSpec, 'gmsaCredentialSpec cannot be an empty string'));
    else if (length > MAX_CREDENTIAL_SPEC_KIB * 1024) {
      errors.push(invalid(at, gmsaCredentialSpec, `gmsaCredentialSpec size must be under ${MAX_CREDENTIAL_SPEC_KIB} KiB`));
    }
  }
  return runAsUserName === undefined ? errors : [...errors, ...invalidEach(`${field}.runAsUserName`, runAsUserName, userNameProblems(runAsUserName))];
}

const isControl = (character: string): boolean => character < ' ' || character === '\u007f';
const netBiosDomain = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsLabelFormat = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const dnsDomain = new RegExp(`^${dnsLabelFormat}(?:\\.${dnsLabelFormat})*$`);

/** 'DOMAIN\user' or 'user' */
function userNameProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (name.split('').some(isControl)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const user = parts[parts.length - 1] ?? '';
  const domain = parts.length === 2 ? parts[0] : undefined;
  const problems: string[] = [];
  if (domain !== undefined && byteLength(domain) >= MAX_DOMAIN_LENGTH) {
    problems.push(`runAsUserName's Domain length must be under ${MAX_DOMAIN_LENGTH} characters`);
  }
  if (domain !== undefined && !netBiosDomain.test(domain) && !dnsDomain.test(domain)) {
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === '') problems.push("runAsUserName's User cannot be empty");
  else if (byteLength(user) > MAX_USER_LENGTH) problems.push(`runAsUserName's User length must not be longer than ${MAX_USER_LENGTH} characters`);
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) problems.push(`runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  return problems;
}

/** Containers that run as processes of a Windows node: all of a pod's or none, and on the node's network. */
export function validateHostProcesses(spec: PodSpec, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const podWide = spec.securityContext?.windowsOptions?.hostProcess;
  const containers = allContainers(spec, field);
  let hostProcesses = 0;
  for (const { container, field: at } of containers) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (podWide !== undefined && own !== undefined && podWide !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${podWide}`;
      errors.push(invalid(`${at}.securityContext.windowsOptions.hostProcess`, own, detail));
    }
    if (own ?? podWide ?? false) hostProcesses++;
  }
  if (hostProcesses === 0) return errors;
  if (hostProcesses !== containers.length) {
    errors.push(invalid(field, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers'));
  }
  if (spec.hostNetwork !== true) {
    errors.push(invalid(`${field}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers'));
  }
  return errors;
}

const podWideForbidden = [
  ...['appArmorProfile', 'seLinuxOptions'].map((name) => `securityContext.${name}`),
  'hostUsers',
  'hostPID',
  'hostIPC',
  ...['seccompProfile', 'fsGroup', 'fsGroupChangePolicy', 'sysctls'].map((name) => `securityContext.${name}`),
  'shareProcessNamespace',
  ...['runAsUser', 'runAsGroup', 'supplementalGroups', 'supplementalGroupsPolicy', 'seLinuxChangePolicy'].map((name) => `securityContext.${name}`),
];
const containerForbidden = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

/** What only makes sense on Linux. */
export function validateWindowsPod(spec: PodSpec, field: string): FieldError[] {
  const isSet = (path: string): boolean => path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], spec) !== undefined;
  return [
    ...podWideForbidden.filter(isSet).map((path) => forbidden(`${field}.${path}`, 'cannot be set for a windows pod')),
    ...allContainers(spec, field).flatMap(({ container, field: at }) =>
      containerForbidden
        .filter((name) => container.securityContext?.[name] !== undefined)
        .map((name) => forbidden(`${at}.securityContext.${name}`, 'cannot be set for a windows pod')),
    ),
  ];
}

/** And what only makes sense on Windows. */
export function validateLinuxPod(spec: PodSpec, field: string): FieldError[] {
  const places = [{ container: spec, field }, ...allContainers(spec, field)];
  return places
    .filter(({ container }) => container.securityContext?.windowsOptions !== undefined)
    .map(({ field: at }) => forbidden(`${at}.securityContext.windowsOptions`, 'windows options cannot be set for a linux pod'));
}
