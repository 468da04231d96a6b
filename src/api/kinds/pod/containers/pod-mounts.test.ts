import { describe, expect, test } from 'vitest';
import { refusal } from '../../try-kind.ts';
import { podKind } from '../pod.ts';

/** What a container does with volumes. */
interface Mounting {
  readonly volumeMounts?: object[];
  readonly volumeDevices?: object[];
  readonly securityContext?: object;
}

/** What is said of a pod with these volumes, 'reason field: message' each. */
function said(volumes: readonly object[], container: Mounting = {}): string[] {
  return refusal(podKind, {
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'main', image: 'nginx', ...container }], volumes },
  });
}

const emptyDir = (name: string): object => ({ name, emptyDir: {} });
const claim = (name: string): object => ({ name, persistentVolumeClaim: { claimName: name } });

describe('mounts', () => {
  const mount = (name: string, mountPath: string, more: object = {}): object => ({ name, mountPath, ...more });
  const mounted = (...volumeMounts: object[]): string[] => said([emptyDir('a'), claim('c')], { volumeMounts });
  const at = 'spec.containers[0].volumeMounts';

  test('refer to a volume and have a path', () => {
    expect(mounted(mount('a', '/a'))).toEqual([]);
    expect(mounted(mount('b', '/b'))).toEqual([`FieldValueNotFound ${at}[0].name: Not found: "b"`]);
    expect(mounted(mount('', ''))).toEqual([
      `FieldValueRequired ${at}[0].name: Required value`,
      `FieldValueNotFound ${at}[0].name: Not found: ""`,
      `FieldValueRequired ${at}[0].mountPath: Required value`,
    ]);
  });

  test('have a path of their own', () => {
    expect(mounted(mount('a', '/x'), mount('c', '/x'))).toEqual([`FieldValueInvalid ${at}[1].mountPath: Invalid value: "/x": must be unique`]);
    expect(mounted(mount('a', '/x'), mount('a', '/y'))).toEqual([]);
  });

  test('sub-paths stay within the volume', () => {
    expect(mounted(mount('a', '/a', { subPath: '/abs' }), mount('a', '/b', { subPathExpr: 'x/../y' }))).toEqual([
      `FieldValueInvalid ${at}.subPath: Invalid value: "/abs": must be a relative path`,
      `FieldValueInvalid ${at}.subPathExpr: Invalid value: "x/../y": must not contain '..'`,
    ]);
    expect(mounted(mount('a', '/a', { subPath: 'x', subPathExpr: 'y' }))).toEqual([
      `FieldValueInvalid ${at}[0].subPathExpr: Invalid value: "y": subPathExpr and subPath are mutually exclusive`,
    ]);
  });

  test('mounts reach the node only from privileged containers', () => {
    const volumeMounts = [mount('a', '/a', { mountPropagation: 'Bidirectional' })];
    expect(said([emptyDir('a')], { volumeMounts })).toEqual([
      `FieldValueForbidden ${at}.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`,
    ]);
    expect(said([emptyDir('a')], { volumeMounts, securityContext: { privileged: true } })).toEqual([]);
    expect(mounted(mount('a', '/a', { mountPropagation: 'Up' }))).toEqual([
      `FieldValueNotSupported ${at}.mountPropagation: Unsupported value: "Up": supported values: "Bidirectional", "HostToContainer", "None"`,
    ]);
  });

  test('read-only all the way down only if read-only', () => {
    expect(mounted(mount('a', '/a', { recursiveReadOnly: 'Enabled', mountPropagation: 'HostToContainer' }))).toEqual([
      `FieldValueForbidden ${at}.recursiveReadOnly: Forbidden: may only be specified when readOnly is true`,
      `FieldValueForbidden ${at}.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified`,
    ]);
    expect(mounted(mount('a', '/a', { recursiveReadOnly: 'Maybe' }))).toEqual([
      `FieldValueNotSupported ${at}.recursiveReadOnly: Unsupported value: "Maybe": supported values: "Disabled", "Enabled", "IfPossible"`,
    ]);
    expect(mounted(mount('a', '/a', { recursiveReadOnly: 'IfPossible', readOnly: true }))).toEqual([]);
  });
});

describe('block devices', () => {
  const at = 'spec.containers[0].volumeDevices';
  const device = (name: string, devicePath: string): object => ({ name, devicePath });
  const attached = (volumeDevices: object[], volumeMounts: object[] = []): string[] => said([emptyDir('a'), claim('c')], { volumeDevices, volumeMounts });

  test('are claims', () => {
    expect(attached([device('c', '/dev/x')])).toEqual([]);
    expect(attached([device('a', '/dev/x')])).toEqual([
      `FieldValueInvalid ${at}[0].name: Invalid value: "a": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`,
    ]);
    expect(attached([device('b', '')])).toEqual([`FieldValueNotFound ${at}[0].name: Not found: "b"`, `FieldValueRequired ${at}[0].devicePath: Required value`]);
  });

  test('have names and paths of their own', () => {
    expect(attached([device('c', '/dev/x'), device('c', '/dev/x')])).toEqual([
      `FieldValueInvalid ${at}[1].name: Invalid value: "c": must be unique`,
      `FieldValueInvalid ${at}[1].devicePath: Invalid value: "/dev/x": must be unique`,
    ]);
    expect(attached([device('c', '/dev/../x')])).toEqual([
      `FieldValueInvalid ${at}[0].devicePath: Invalid value: "/dev/../x": can not contain backsteps ('..')`,
    ]);
  });

  test('are not mounted as well', () => {
    expect(attached([device('c', '/x')], [{ name: 'c', mountPath: '/x' }])).toEqual([
      'FieldValueInvalid spec.containers[0].volumeMounts[0].name: Invalid value: "c": must not already exist in volumeDevices',
      'FieldValueInvalid spec.containers[0].volumeMounts[0].mountPath: Invalid value: "/x": must not already exist as a path in volumeDevices',
      `FieldValueInvalid ${at}[0].name: Invalid value: "c": must not already exist in volumeMounts`,
      `FieldValueInvalid ${at}[0].devicePath: Invalid value: "/x": must not already exist as a path in volumeMounts`,
    ]);
  });
});
