import { expect, test } from 'vitest';
import type { VolumeAttachment } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { Client } from '../../client/client.ts';
import { Informers } from '../../client/informers/informers.ts';
import { simulate } from '../../sim/world/world.ts';
import { type AttachingDrivers, csiAttacher } from './controller.ts';

test('an attach call of a driver in this process ends before its attachment is decided about again', () =>
  simulate(1, async (world) => {
    const calls: string[] = [];
    const attachment = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name: 'a', uid: 'u1', resourceVersion: '1' },
      spec: { attacher: 'disks.example.com', nodeName: 'n1', source: { persistentVolumeName: 'vol' } },
    } as unknown as Stored<VolumeAttachment>;
    const client = { get: async () => ({ ok: true, value: attachment }) } as unknown as Client;
    const drivers = {
      facts: () => ({ name: 'disks.example.com', attaches: true }),
      verifiable: () => [],
      published: async () => ({ ok: true, value: [] }),
      publish: async () => {
        calls.push('begun');
        await world.sleep(5_000);
        calls.push('ended');
        return { type: 'published', metadata: {} };
      },
    } as unknown as AttachingDrivers;
    const controller = csiAttacher({ client, informers: new Informers({ client, world }), world, drivers, sha256: (text) => text });
    type Perform = Parameters<typeof controller.perform>;
    const action = { do: 'publish', attachment, request: {}, failures: 0 } as unknown as Perform[0];
    expect(await controller.perform(action, 'va/a', {} as Perform[2])).toBe('done');
    expect(calls).toEqual(['begun', 'ended']);
  }));
