import { type FieldError, forbidden, invalid, notFound, notSupported, required } from '../../../field-error.ts';
import type { Container, EphemeralContainer, VolumeDevice, VolumeMount, VolumeSource } from '../../../generated/types.ts';
import { localDescendingPath, noBacksteps } from '../../../validation/paths.ts';
import { present } from '../../../validation/field-rules.ts';

type Volumes = ReadonlyMap<string, VolumeSource>;
type MountingContainer = Pick<Container | EphemeralContainer, 'volumeMounts' | 'volumeDevices' | 'securityContext'>;

/** Mounts and block devices of a container: each refers to a usable volume of the pod and has a place of its own. */
export function validateMountsAndDevices(container: MountingContainer, field: string, volumes: Volumes): FieldError[] {
  const { volumeMounts = [], volumeDevices = [] } = container;
  return [
    ...validateMounts(container, `${field}.volumeMounts`, volumes),
    ...validateDevices(volumeDevices, `${field}.volumeDevices`, { volumes, volumeMounts }),
  ];
}

function validateMounts(container: MountingContainer, field: string, volumes: Volumes): FieldError[] {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const mountPaths = new Set<string>();
  // A volume that is listed twice counts with its last path.
  const devices = new Map(volumeDevices.map((device) => [device.name, device.devicePath]));
  const devicePaths = new Set(devices.values());
  return volumeMounts.flatMap((mount, i) => {
    const at = `${field}[${i}]`;
    const { name, mountPath } = mount;
    const errors = present(name, `${at}.name`);
    if (!volumes.has(name)) errors.push(notFound(`${at}.name`, name));
    errors.push(...present(mountPath, `${at}.mountPath`));
    if (mountPaths.has(mountPath)) errors.push(invalid(`${at}.mountPath`, mountPath, 'must be unique'));
    mountPaths.add(mountPath);
    if (devices.has(name)) errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeDevices'));
    if (devicePaths.has(mountPath)) {
      errors.push(invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'));
    }
    return [...errors, ...validateSubPath(mount, field, at), ...validatePropagation(mount, field, container), ...validateRecursiveReadOnly(mount, field)];
  });
}

/** `list` is where Kubernetes reports most of this: it forgets to say which mount it is. */
function validateSubPath({ subPath = '', subPathExpr = '' }: VolumeMount, list: string, at: string): FieldError[] {
  const errors = localDescendingPath(subPath, `${list}.subPath`);
  if (subPath !== '' && subPathExpr !== '') errors.push(invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'));
  return [...errors, ...localDescendingPath(subPathExpr, `${list}.subPathExpr`)];
}

const propagations = ['Bidirectional', 'HostToContainer', 'None'];

function validatePropagation({ mountPropagation }: VolumeMount, list: string, container: MountingContainer): FieldError[] {
  if (mountPropagation === undefined) return [];
  const field = `${list}.mountPropagation`;
  if (!propagations.includes(mountPropagation)) return [notSupported(field, mountPropagation, propagations)];
  if (mountPropagation !== 'Bidirectional' || container.securityContext?.privileged === true) return [];
  return [forbidden(field, 'Bidirectional mount propagation is available only to privileged containers')];
}

const recursiveReadOnlyModes = ['Disabled', 'Enabled', 'IfPossible'];

function validateRecursiveReadOnly({ recursiveReadOnly, readOnly, mountPropagation }: VolumeMount, list: string): FieldError[] {
  const field = `${list}.recursiveReadOnly`;
  if (recursiveReadOnly === undefined || recursiveReadOnly === 'Disabled') return [];
  if (!recursiveReadOnlyModes.includes(recursiveReadOnly)) return [notSupported(field, recursiveReadOnly, recursiveReadOnlyModes)];
  const errors: FieldError[] = [];
  if (readOnly !== true) errors.push(forbidden(field, 'may only be specified when readOnly is true'));
  if (mountPropagation !== undefined && mountPropagation !== 'None') {
    errors.push(forbidden(field, 'may only be specified when mountPropagation is None or not specified'));
  }
  return errors;
}

interface Neighbours {
  readonly volumes: Volumes;
  readonly volumeMounts: readonly VolumeMount[];
}

function validateDevices(devices: readonly VolumeDevice[], field: string, { volumes, volumeMounts }: Neighbours): FieldError[] {
  const names = new Set<string>();
  const paths = new Set<string>();
  const mounts = new Map(volumeMounts.map((mount) => [mount.name, mount.mountPath]));
  const mountPaths = new Set(mounts.values());
  return devices.flatMap(({ name, devicePath }, i) => {
    const at = `${field}[${i}]`;
    const errors = present(name, `${at}.name`);
    if (names.has(name)) errors.push(invalid(`${at}.name`, name, 'must be unique'));
    errors.push(...validateDeviceVolume(name, volumes, `${at}.name`));
    if (devicePath === '') errors.push(required(`${at}.devicePath`));
    if (paths.has(devicePath)) errors.push(invalid(`${at}.devicePath`, devicePath, 'must be unique'));
    if (noBacksteps(devicePath, at).length > 0) errors.push(invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')"));
    else paths.add(devicePath);
    if (mounts.has(name)) errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeMounts'));
    if (mountPaths.has(devicePath)) {
      errors.push(invalid(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts'));
    }
    if (name !== '') names.add(name);
    return errors;
  });
}

/** Only claims can be block devices. */
function validateDeviceVolume(name: string, volumes: Volumes, field: string): FieldError[] {
  const volume = volumes.get(name);
  if (volume === undefined) return [notFound(field, name)];
  if (volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined) return [];
  return [invalid(field, name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode')];
}
