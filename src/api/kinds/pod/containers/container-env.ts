import { type FieldError, invalid } from '../../../field-error.ts';
import type { EnvFromSource, EnvVar, EnvVarSource, FileKeySelector } from '../../../generated/types.ts';
import { configMapKeyProblems, relaxedEnvVarNameProblems } from '../../../validation/formats.ts';
import { nameIsDnsSubdomain } from '../../../validation/names.ts';
import { noBacksteps } from '../../../validation/paths.ts';
import { environmentFieldPaths, validateFieldSelector, validateResourceFieldSelector } from '../downward-api.ts';
import { dnsLabel, dnsSubdomain, invalidEach, present } from '../../../validation/field-rules.ts';

export const validateEnv = (variables: readonly EnvVar[], field: string): FieldError[] =>
  variables.flatMap((variable, i) => {
    const at = `${field}[${i}]`;
    const name =
      variable.name === '' ? present(variable.name, `${at}.name`) : invalidEach(`${at}.name`, variable.name, relaxedEnvVarNameProblems(variable.name));
    return [...name, ...validateValueFrom(variable, `${at}.valueFrom`)];
  });

function validateValueFrom({ value = '', valueFrom }: EnvVar, field: string): FieldError[] {
  if (valueFrom === undefined) return [];
  const errors = validateEnvSource(valueFrom, field);
  const sources = Object.values(valueFrom).filter((source) => source !== undefined).length;
  if (sources === 0) {
    errors.push(invalid(field, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'));
  } else if (value !== '') errors.push(invalid(field, '', 'may not be specified when `value` is not empty'));
  else if (sources > 1) errors.push(invalid(field, '', 'may not have more than one field specified at a time'));
  return errors;
}

function validateEnvSource({ fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef }: EnvVarSource, field: string): FieldError[] {
  return [
    ...(fieldRef ? validateFieldSelector(fieldRef, environmentFieldPaths, `${field}.fieldRef`) : []),
    ...(resourceFieldRef ? validateResourceFieldSelector(resourceFieldRef, `${field}.resourceFieldRef`, { inVolume: false }) : []),
    ...(configMapKeyRef ? validateKeySelector(configMapKeyRef, `${field}.configMapKeyRef`) : []),
    ...(secretKeyRef ? validateKeySelector(secretKeyRef, `${field}.secretKeyRef`) : []),
    ...(fileKeyRef ? validateFileKeySelector(fileKeyRef, `${field}.fileKeyRef`) : []),
  ];
}

/** A key of a config map or secret. */
const validateKeySelector = ({ name = '', key }: { name?: string; key: string }, field: string): FieldError[] => [
  ...dnsSubdomain(name, `${field}.name`),
  ...(key === '' ? present(key, `${field}.key`) : invalidEach(`${field}.key`, key, configMapKeyProblems(key))),
];

/** A key of a file that an init container wrote. */
const validateFileKeySelector = ({ key, volumeName, path }: FileKeySelector, field: string): FieldError[] => [
  ...(key === '' ? present(key, `${field}.key`) : invalidEach(`${field}.key`, key, relaxedEnvVarNameProblems(key))),
  ...(volumeName === '' ? present(volumeName, `${field}.volumeName`) : dnsLabel(volumeName, `${field}.volumeName`)),
  ...(path === '' ? present(path, `${field}.path`) : noBacksteps(path, `${field}.path`)),
];

export const validateEnvFrom = (sources: readonly EnvFromSource[], field: string): FieldError[] =>
  sources.flatMap(({ prefix = '', configMapRef, secretRef }, i) => {
    const at = `${field}[${i}]`;
    const errors = prefix === '' ? [] : invalidEach(`${at}.prefix`, prefix, relaxedEnvVarNameProblems(prefix));
    if (configMapRef) errors.push(...validateWholeSource(configMapRef, `${at}.configMapRef`));
    if (secretRef) errors.push(...validateWholeSource(secretRef, `${at}.secretRef`));
    if (!configMapRef && !secretRef) errors.push(invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`'));
    if (configMapRef && secretRef) errors.push(invalid(field, '', 'may not have more than one field specified at a time'));
    return errors;
  });

const validateWholeSource = ({ name = '' }: { name?: string }, field: string): FieldError[] =>
  name === '' ? present(name, `${field}.name`) : invalidEach(`${field}.name`, name, nameIsDnsSubdomain(name, true));
