import { type FieldError, forbidden, invalid, required } from '../../../field-error.ts';
import type {
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  KeyToPath,
  ProjectedVolumeSource,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../../generated/types.ts';
import { localNonReservedPath } from '../../../validation/paths.ts';
import { validateFieldSelector, validateResourceFieldSelector, volumeFieldPaths } from '../downward-api.ts';
import { present } from '../../../validation/field-rules.ts';

const FILE_MODE = 'must be a number between 0 and 0777 (octal), both inclusive';

const fileMode = (mode: number | undefined, field: string): FieldError[] =>
  mode !== undefined && (mode > 0o777 || mode < 0) ? [invalid(field, mode, FILE_MODE)] : [];

export const validateSecret = (secret: SecretVolumeSource, field: string): FieldError[] => [
  ...present(secret.secretName, `${field}.secretName`),
  ...fileMode(secret.defaultMode, `${field}.defaultMode`),
  ...validateItems(secret.items, field),
];

export const validateConfigMap = (configMap: ConfigMapVolumeSource, field: string): FieldError[] => [
  ...present(configMap.name, `${field}.name`),
  ...fileMode(configMap.defaultMode, `${field}.defaultMode`),
  ...validateItems(configMap.items, field),
];

const validateItems = (items: readonly KeyToPath[] | undefined, field: string): FieldError[] =>
  (items ?? []).flatMap((item, i) => validateKeyToPath(item, `${field}.items[${i}]`));

const validateKeyToPath = (item: KeyToPath, field: string): FieldError[] => [
  ...present(item.key, `${field}.key`),
  ...present(item.path, `${field}.path`),
  ...localNonReservedPath(item.path, `${field}.path`),
  ...fileMode(item.mode, `${field}.mode`),
];

/** Kubernetes does not say which of the files is wrong: `field` is the volume's. */
export const validateDownwardApi = (source: DownwardAPIVolumeSource, field: string): FieldError[] => [
  ...fileMode(source.defaultMode, `${field}.defaultMode`),
  ...(source.items ?? []).flatMap((file) => validateDownwardApiFile(file, field)),
];

function validateDownwardApiFile(file: DownwardAPIVolumeFile, field: string): FieldError[] {
  return [
    ...present(file.path, `${field}.path`),
    ...localNonReservedPath(file.path, `${field}.path`),
    ...validateDownwardApiReference(file, field),
    ...fileMode(file.mode, `${field}.mode`),
  ];
}

function validateDownwardApiReference({ fieldRef, resourceFieldRef }: DownwardAPIVolumeFile, field: string): FieldError[] {
  if (fieldRef !== undefined) {
    const errors = validateFieldSelector(fieldRef, volumeFieldPaths, `${field}.fieldRef`);
    if (resourceFieldRef === undefined) return errors;
    return [...errors, invalid(field, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')];
  }
  if (resourceFieldRef === undefined) return [required(field, 'one of fieldRef and resourceFieldRef is required')];
  return validateResourceFieldSelector(resourceFieldRef, `${field}.resourceFieldRef`, { inVolume: true });
}

export function validateProjected(source: ProjectedVolumeSource, field: string): FieldError[] {
  const paths = new PathsTaken(field);
  return [
    ...fileMode(source.defaultMode, `${field}.defaultMode`),
    ...(source.sources ?? []).flatMap((projection, i) => validateProjection(projection, { field, at: `${field}.sources[${i}]`, paths })),
  ];
}

/** The files that the parts of a projected volume write, each of which only one part may write. */
class PathsTaken {
  readonly #taken = new Set<string>();
  readonly #field: string;
  constructor(field: string) {
    this.#field = field;
  }
  /** `owner`: what the error shows, the name of the secret or config map where there is one. */
  take(path: string, owner: string): FieldError[] {
    if (path === '') return [];
    if (this.#taken.has(path)) return [invalid(this.#field, owner, 'conflicting duplicate paths')];
    this.#taken.add(path);
    return [];
  }
}

interface Place {
  /** The projected volume. */
  readonly field: string;
  /** The part of it in question. */
  readonly at: string;
  readonly paths: PathsTaken;
}

function validateProjection(projection: VolumeProjection, place: Place): FieldError[] {
  const { secret, configMap, downwardAPI, serviceAccountToken } = projection;
  const isMixed = Object.values(projection).filter((part) => part !== undefined).length > 1;
  return [
    ...(secret ? validateProjectedKeys(secret, 'secret', place) : []),
    ...(configMap ? validateProjectedKeys(configMap, 'configMap', place) : []),
    ...(downwardAPI?.items ?? []).flatMap((file) => [...validateDownwardApiFile(file, `${place.at}.downwardAPI`), ...place.paths.take(file.path, file.path)]),
    ...(serviceAccountToken ? validateToken(serviceAccountToken, place) : []),
    ...(isMixed ? [forbidden(place.at, 'may not specify more than 1 volume type per source')] : []),
  ];
}

function validateProjectedKeys(source: { name?: string; items?: KeyToPath[] }, kind: string, { at, paths }: Place): FieldError[] {
  const field = `${at}.${kind}`;
  const items = (source.items ?? []).flatMap((item, i) => [...validateKeyToPath(item, `${field}.items[${i}]`), ...paths.take(item.path, source.name ?? '')]);
  return [...present(source.name, `${field}.name`), ...items];
}

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

function validateToken({ expirationSeconds = 0, path }: ServiceAccountTokenProjection, { field, at }: Place): FieldError[] {
  const errors: FieldError[] = [];
  const expires = `${at}.serviceAccountToken.expirationSeconds`;
  if (expirationSeconds < MIN_TOKEN_SECONDS) errors.push(invalid(expires, expirationSeconds, 'may not specify a duration less than 10 minutes'));
  if (expirationSeconds > MAX_TOKEN_SECONDS) errors.push(invalid(expires, expirationSeconds, 'may not specify a duration larger than 2^32 seconds'));
  return [...errors, ...(path === '' ? [required(`${field}.path`)] : localNonReservedPath(path, `${field}.path`))];
}
