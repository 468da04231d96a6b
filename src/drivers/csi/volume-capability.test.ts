import { describe, expect, it } from 'vitest';
import { VolumeCapability_AccessMode_Mode as Mode } from '../../grpc/generated/csi.ts';
import { failed, succeeded } from '../contract.ts';
import { csiAccessMode, volumeCapabilityOf } from './volume-capability.ts';

describe('csiAccessMode', () => {
  it.each([
    [['ReadWriteOnce'], Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_MULTI_WRITER],
    [['ReadWriteOncePod'], Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_SINGLE_WRITER],
    [['ReadOnlyMany'], Mode.MULTI_NODE_READER_ONLY, Mode.MULTI_NODE_READER_ONLY],
    [['ReadWriteMany'], Mode.MULTI_NODE_MULTI_WRITER, Mode.MULTI_NODE_MULTI_WRITER],
    [['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'], Mode.MULTI_NODE_MULTI_WRITER, Mode.MULTI_NODE_MULTI_WRITER],
    [['ReadWriteOnce', 'ReadWriteOnce'], Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_MULTI_WRITER],
  ])('%j', (accessModes, plain, capable) => {
    expect(csiAccessMode(accessModes, false)).toEqual(succeeded(plain));
    expect(csiAccessMode(accessModes, true)).toEqual(succeeded(capable));
  });

  it.each([
    [['ReadWriteOncePod', 'ReadWriteMany'], 'Kubernetes does not support use of ReadWriteOncePod with other access modes on the same PersistentVolume'],
    [['ReadOnlyMany', 'ReadWriteOnce'], 'CSI does not support ReadOnlyMany and ReadWriteOnce on the same PersistentVolume'],
    [[], 'unsupported AccessMode combination: []'],
    [['Sometimes'], 'unsupported AccessMode combination: [Sometimes]'],
  ])('refuses %j', (accessModes, message) => {
    expect(csiAccessMode(accessModes, false)).toEqual(failed('InvalidArgument', message));
    expect(csiAccessMode(accessModes, true)).toEqual(failed('InvalidArgument', message));
  });
});

describe('volumeCapabilityOf', () => {
  const options = { singleNodeMultiWriter: false };

  it('a mounted volume has its file system and mount options', () => {
    const access = { accessModes: ['ReadWriteOnce'], volumeMode: undefined, fsType: 'xfs', mountOptions: ['noatime'], volumeMountGroup: '2000' };
    expect(volumeCapabilityOf(access, options)).toEqual(
      succeeded({
        accessMode: { mode: Mode.SINGLE_NODE_WRITER },
        accessType: { case: 'mount', value: { fsType: 'xfs', mountFlags: ['noatime'], volumeMountGroup: '2000' } },
      }),
    );
  });

  it('a block volume has neither', () => {
    const access = { accessModes: ['ReadWriteMany'], volumeMode: 'Block', fsType: 'xfs', mountOptions: ['noatime'] };
    expect(volumeCapabilityOf(access, options)).toEqual(
      succeeded({ accessMode: { mode: Mode.MULTI_NODE_MULTI_WRITER }, accessType: { case: 'block', value: {} } }),
    );
  });

  it('access modes that CSI cannot say are refused', () => {
    expect(volumeCapabilityOf({ accessModes: [], volumeMode: 'Block' }, options)).toEqual(failed('InvalidArgument', 'unsupported AccessMode combination: []'));
  });
});
