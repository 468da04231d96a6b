/** Volumes of csi-driver-host-path that are attached, of which a node takes two at most; the same with the built-in controllers and with sidecars. */
import { expect, test } from 'vitest';
import type { Scene } from './host-path-scenarios.ts';
import { claim, csiDriver, ofClaim, pod, storageClass } from './host-path-objects.ts';
import { hostPathName } from './host-path.ts';
import { nodeName } from './peer-cluster.ts';

export const attachArgs = ['--enable-attach', '--attach-limit', '2'];
export const attachedDriver = (annotations: Readonly<Record<string, string>> = {}) => csiDriver({ attachRequired: true }, annotations);

export function testAttaching(scene: () => Scene): void {
  test('a node takes as many volumes as the driver allows: the scheduler keeps to it, and the driver refuses what it was not asked about', async () => {
    const { cluster, driver } = scene();
    const { kubectl } = cluster;
    const value = (path: string, ...object: string[]): Promise<string> => kubectl('get', ...object, '-o', `jsonpath={${path}}`);
    const uses = (name: string) => pod(name, 'exec sleep infinity', { data: ofClaim(name) });
    const onNode = (name: string) => ({ ...uses(name), spec: { ...uses(name).spec, nodeName } });
    const limit = `.spec.drivers[?(@.name=="${hostPathName}")].allocatable.count`;
    await expect.poll(() => value(limit, 'csinode', nodeName)).toBe('2');

    await cluster.apply(storageClass('at-once'), ...['a', 'b', 'c', 'd'].map((name) => claim(name, 'at-once')), uses('a'), uses('b'));
    await kubectl('wait', '--for=condition=Ready', 'pod/a', 'pod/b', '--timeout=120s');
    const attachments = async (path: string) => (await value(`range .items[*]}{${path}}{"\\n"}{end`, 'volumeattachments')).split('\n').filter(Boolean).sort();
    expect(await attachments('.status.attached')).toEqual(['true', 'true']);

    await cluster.apply(uses('c'));
    await expect.poll(() => value('.status.conditions[?(@.type=="PodScheduled")].message', 'pod', 'c')).toContain('exceed max volume count');
    // A pod that names its node was seen by no scheduler.
    await cluster.apply(onNode('d'));
    await expect.poll(() => attachments('.status.attachError.errorCode')).toEqual(['8']);
    await expect.poll(() => kubectl('get', 'events', '--field-selector', 'involvedObject.name=d,reason=FailedAttachVolume', '-o', 'name')).not.toBe('');

    // Its place is free once a pod has ended.
    await kubectl('delete', 'pod', 'a', '--timeout=120s');
    await kubectl('wait', '--for=condition=Ready', 'pod/d', '--timeout=240s');
    await kubectl('delete', 'pod', 'b', '--timeout=120s');
    await kubectl('wait', '--for=condition=Ready', 'pod/c', '--timeout=240s');
    await kubectl('delete', 'pod', 'c', 'd', '--timeout=120s');
    await kubectl('delete', 'pvc', '--all', '--timeout=120s');
    await expect.poll(() => attachments('.metadata.name')).toEqual([]);
    await expect.poll(() => kubectl('get', 'pv', '-o', 'name')).toBe('');
    await expect.poll(() => driver.volumes()).toEqual([]);
  });
}
