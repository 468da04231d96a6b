import { afterAll, beforeAll, expect, test } from 'vitest';
import { allCases } from '../../src/csi-test/cases.ts';
import { describeWithMounts } from '../mounts/permitted.ts';
import { type Fault, faults } from './faulty-driver/faults.ts';
import { buildFaultyDriver, casesOf, type FaultyDriver } from './test-faulty-driver.ts';

/** Fault → the case that finds it, and what that says. */
const found: Readonly<Record<Fault, readonly [string, RegExp]>> = {
  'create-not-idempotent': ['CreateVolume/repeated', /answers otherwise/],
  'create-answers-other-size': ['CreateVolume/repeated', /answers otherwise.*1048576.*2097152/],
  'create-accepts-other-size': ['CreateVolume/other arguments', /answers OK, not AlreadyExists/],
  'create-too-small': ['CreateVolume/required size', /required_bytes is 1048577, the volume has 524288/],
  'create-leaks-when-cancelled': ['CreateVolume/a cancelled call', /leaked: file .*volume-/],
  'create-races': ['concurrency/one name many times', /one name has \d volumes/],
  'create-wrong-id': ['ListVolumes/contains', /0 times, not once/],
  'create-ignores-limit': ['CreateVolume/size limit', /limit_bytes is 1048577, the volume has 1052672/],
  'clone-has-size-of-source': ['CreateVolume/larger clone', /required_bytes is 2097152, the clone has 1048576/],
  'clone-shares-source': ['CreateVolume/clone without its source', /no such file or directory/],
  'validate-unknown-accepted': ['ValidateVolumeCapabilities/unknown', /answers OK, not NotFound/],
  'clone-not-idempotent': ['CreateVolume from volume/repeated', /AlreadyExists/],
  'restore-is-empty': ['CreateVolume/from snapshot', /has lost a file/],
  'secrets-unchecked': ['CreateVolume/no secrets', /answers OK, not Unauthenticated/],
  'delete-missing-fails': ['DeleteVolume/unknown', /NotFound/],
  'delete-leaves-files': ['CreateVolume/id', /leaked: file .*volume-/],
  'attach-repeated-fails': ['ControllerPublishVolume/repeated', /FailedPrecondition/],
  'attach-elsewhere-accepted': ['concurrency/another node', /answers OK, not FailedPrecondition/],
  'detach-missing-fails': ['ControllerUnpublishVolume/repeated', /Internal/],
  'detach-needs-node': ['ControllerUnpublishVolume/all nodes', /InvalidArgument/],
  'list-accepts-bad-token': ['ListVolumes/bad token', /answers OK, not Aborted/],
  'list-loses-entry': ['ListVolumes/pages', /0 times, not once/],
  'list-never-ends': ['ListVolumes/pages', /never end/],
  'snapshot-other-source-accepted': ['CreateSnapshot/other arguments', /answers OK, not AlreadyExists/],
  'snapshot-taken-late': ['CreateVolume/from snapshot', /has other data/],
  'snapshot-goes-with-volume': ['DeleteVolume/with snapshot', /NotFound/],
  'snapshot-list-ignores-filter': ['ListSnapshots/by id', /./],
  'snapshot-never-ready': ['CreateSnapshot/ready', /ready_to_use .* is false/],
  'snapshot-delete-missing-fails': ['DeleteSnapshot/repeated', /NotFound/],
  'group-leaks-members': ['CreateVolumeGroupSnapshot/missing volume', /leaked: snapshot/],
  'expand-shrinks': ['ControllerExpandVolume/never shrinks', /after a smaller request it has 1048576/],
  'expand-answers-zero': ['ControllerExpandVolume/grows', /the answer has 0/],
  'expand-repeated-fails': ['ControllerExpandVolume/a lost answer', /InvalidArgument/],
  'lock-kept-after-crash': ['NodeStageVolume/killed during', /still after/],
  'lock-kept-when-cancelled': ['NodeStageVolume/a cancelled call', /still after/],
  'state-lost': ['CreateVolume/after a restart', /answers otherwise after a restart/],
  'node-id-changes': ['NodeGetInfo/after restart', /node_id changes/],
  'stage-mounts-twice': ['NodeStageVolume/repeated', /2 mounts lie on/],
  'stage-refuses-repeat': ['NodeStageVolume/after a restart', /Internal/],
  'unstage-does-nothing-after-restart': ['NodeUnstageVolume/killed before', /1 mounts are left/],
  'publish-accepts-other-capability': ['NodePublishVolume/other arguments', /answers OK, not AlreadyExists/],
  'publish-leaks-when-failed': ['NodePublishVolume/fails cleanly', /leaked: mount at .*between/],
  'publish-ignores-readonly': ['NodePublishVolume/read-only', /can be written/],
  'stage-wipes-data': ['NodePublishVolume/data stays', /lost a file/],
  'stats-of-missing-path': ['NodeGetVolumeStats/unknown path', /answers OK, not NotFound/],
  'unpublish-leaves-mount': ['NodePublishVolume/at the target', /./],
  'unpublish-missing-fails': ['NodeUnpublishVolume/never published', /Internal/],
  'unpublish-keeps-target': ['NodePublishVolume/at the target', /still exists/],
  'unpublish-unmounts-all-pods': ['concurrency/one of two pods leaves', /lost a file/],
};

describeWithMounts(import.meta.url, () => {
  let driver: FaultyDriver;
  beforeAll(async () => {
    driver = await buildFaultyDriver({ mounts: true });
  });
  afterAll(() => driver[Symbol.dispose]());

  test.each(Object.keys(faults) as Fault[])('moor csi test finds the fault %s', async (fault) => {
    const [id, says] = found[fault];
    const report = await driver.test({ faults: [fault], cases: casesOf([id]) });
    const [result] = report.results;
    expect(result).toMatchObject({ id, outcome: expect.stringMatching(/failed|warned/) as unknown, message: expect.stringMatching(says) as unknown });
    expect(result?.replay).toEqual(['--focus', expect.any(String), '--seed', '1']);
  });

  test('without faults nothing is found', async () => {
    const report = await driver.test({ faults: [], cases: allCases({ sequences: 3 }) });
    expect(report.results.filter(({ outcome }) => outcome === 'failed' || outcome === 'warned')).toEqual([]);
    expect(report.results.filter(({ outcome }) => outcome === 'passed').length).toBeGreaterThan(250);
    expect(report.aborted).toBeUndefined();
  });

  test('a failing sequence is shrunk to the steps that matter', async () => {
    const report = await driver.test({ faults: ['unpublish-keeps-target', 'delete-leaves-files'], cases: casesOf(['sequence 1']) });
    expect(report.results[0]).toMatchObject({ outcome: 'failed', message: expect.stringMatching(/leaked: file/) as unknown });
    expect(report.results[0]?.replay?.[1]).toMatch(/^(\w+ )?create [ab]$/);
  });
});
