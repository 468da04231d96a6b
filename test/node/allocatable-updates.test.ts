/** When a driver is asked again how many volumes it can attach to its node. */
import { expect, test } from 'vitest';
import type { VolumeAttachment } from '../../src/api/generated/types.ts';
import { csiDriverKind } from '../../src/api/kinds/storage/csi-driver.ts';
import { volumeAttachmentKind } from '../../src/api/kinds/storage/volume-attachment.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { AllocatableUpdates } from '../../src/node/plugin-registration/allocatable-updates.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { startTestCluster } from '../client/test-cluster.ts';

test('by its period, while it is registered, and at once when an attachment to its own node is refused for want of room', () =>
  simulate(1, async (world) => {
    const { client } = await startTestCluster(world);
    const informers = new Informers({ client, world });
    let registered: readonly string[] = ['periodic', 'plain'];
    const asked: string[] = [];
    const refresh = async (driver: string) => void asked.push(driver);
    const updates = new AllocatableUpdates({ node: 'node-1', informers, timers: world.timers, registered: () => registered, refresh });
    informers.start();
    await client.create(csiDriverKind, { metadata: { name: 'periodic' }, spec: { nodeAllocatableUpdatePeriodSeconds: 60 } });
    await client.create(csiDriverKind, { metadata: { name: 'plain' }, spec: {} });
    await world.sleep(59_000);
    expect(asked).toEqual([]);
    await world.sleep(122_000);
    expect(asked).toEqual(['periodic', 'periodic', 'periodic']);

    const refuse = async (name: string, spec: { readonly attacher: string; readonly nodeName: string }, errorCode: number) => {
      const created = await client.create(volumeAttachmentKind, { metadata: { name }, spec: { ...spec, source: { persistentVolumeName: 'pv' } } });
      if (!created.ok) throw new Error(created.error.message);
      const status: VolumeAttachment['status'] = { attached: false, attachError: { message: 'no', errorCode, time: '2026-01-01T00:00:00Z' } };
      expect(await client.updateStatus(volumeAttachmentKind, { ...created.value, status })).toMatchObject({ ok: true });
    };
    asked.length = 0;
    await refuse('other-code', { attacher: 'periodic', nodeName: 'node-1' }, 9);
    await refuse('other-node', { attacher: 'periodic', nodeName: 'node-2' }, 8);
    await refuse('without-period', { attacher: 'plain', nodeName: 'node-1' }, 8);
    await world.sleep(1000);
    expect(asked).toEqual([]);
    await refuse('full', { attacher: 'periodic', nodeName: 'node-1' }, 8);
    await world.sleep(1000);
    expect(asked).toEqual(['periodic']);

    registered = [];
    updates.sync('periodic');
    asked.length = 0;
    await world.sleep(200_000);
    expect(asked).toEqual([]);
    updates.stop();
    informers.stop();
  }));
