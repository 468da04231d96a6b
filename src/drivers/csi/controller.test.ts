import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerCall } from '../../grpc/channel.ts';
import {
  Controller,
  ControllerServiceCapability_RPC_Type as Rpc,
  Identity,
  PluginCapability_Service_Type as Service,
  VolumeCapability_AccessMode_Mode as Mode,
} from '../../grpc/generated/csi.ts';
import { Http2Channel } from '../../grpc/http2-channel.ts';
import { GrpcServer } from '../../grpc/http2-server.ts';
import { handlersOf, type Implementation } from '../../grpc/service.ts';
import { RpcError } from '../../grpc/status.ts';
import type { World } from '../../world/world.ts';
import { createRealWorld } from '../../host/world.ts';
import { failed, succeeded, type VolumeDriver } from '../contract.ts';
import { DriverSet } from '../driver-set.ts';
import { CsiEndpoints } from './controller-endpoints.ts';

const GiB = 1024n ** 3n;
const leader = { lease: 'kube-system/moor-controllers', epoch: 7 };
const world = createRealWorld({ logLevel: 'error' });
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface FakeDriver {
  readonly name?: string;
  readonly rpcs?: readonly Rpc[];
  readonly services?: readonly Service[];
  readonly controller?: Implementation<typeof Controller>;
  readonly identity?: Implementation<typeof Identity>;
}

/** A driver behind a socket, and what it was asked. */
async function serve(
  address: string,
  { name = 'fake.csi.example.com', rpcs = [Rpc.CREATE_DELETE_VOLUME], services = [], controller = {}, identity = {} }: FakeDriver,
) {
  const server = new GrpcServer(
    handlersOf(Identity, {
      probe: async () => ({ ready: true }),
      getPluginInfo: async () => ({ name, vendorVersion: '1' }),
      getPluginCapabilities: async () => ({
        capabilities: [Service.CONTROLLER_SERVICE, ...services].map((type) => ({ type: { case: 'service' as const, value: { type } } })),
      }),
      ...identity,
    }),
    handlersOf(Controller, {
      controllerGetCapabilities: async () => ({ capabilities: rpcs.map((type) => ({ type: { case: 'rpc' as const, value: { type } } })) }),
      ...controller,
    }),
  );
  await server.listen(address);
  cleanups.push(() => server.close());
  return server;
}

function newAddress(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'csi-'));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  return `unix://${directory}/csi.sock`;
}

function endpoints(drivers = new DriverSet([]), of: World = world) {
  const opened = new CsiEndpoints({
    world: of,
    drivers,
    dial: (address, onLost) => new Http2Channel({ address, timers: world.timers, onLost }),
    readSecret: async ({ namespace, name }) =>
      name === 'missing' ? failed('Unavailable', `error getting secret ${name} in namespace ${namespace}: not found`) : succeeded({ password: `of ${name}` }),
  });
  cleanups.push(() => opened.close());
  return { drivers, opened };
}

async function connected(fake: FakeDriver): Promise<VolumeDriver> {
  const address = newAddress();
  await serve(address, fake);
  const { drivers, opened } = endpoints();
  opened.open({ address });
  await opened.settled(5000);
  const [driver] = [...drivers.all()];
  if (driver === undefined) throw new Error('the driver did not answer');
  return driver;
}

const request = {
  name: 'pvc-1',
  capacity: '1Gi',
  accessModes: ['ReadWriteOnce'],
  volumeMode: 'Filesystem',
  storageClassName: 'fast',
  reclaimPolicy: 'Delete',
  parameters: { kind: 'ssd' },
};

describe('createVolume', () => {
  it('asks as external-provisioner does, and carries the leader', async () => {
    const asked: { readonly request: unknown; readonly call: ServerCall }[] = [];
    const driver = await connected({
      services: [Service.VOLUME_ACCESSIBILITY_CONSTRAINTS],
      controller: {
        createVolume: async (received, call) => {
          asked.push({ request: received, call });
          return {
            volume: { volumeId: 'v1', capacityBytes: 2n * GiB, volumeContext: { shard: '3' }, accessibleTopology: [{ segments: { zone: 'a', rack: '1' } }] },
          };
        },
      },
    });
    const created = await driver.createVolume(
      {
        ...request,
        csi: {
          fsType: 'xfs',
          readOnly: true,
          secrets: { provisioner: { namespace: 'ns', name: 'p' }, nodeStage: { namespace: 'ns', name: 's' }, controllerModify: { namespace: 'ns', name: 'm' } },
          accessibilityRequirements: { requisite: [{ segments: { zone: 'a' } }], preferred: [{ segments: { zone: 'a' } }] },
          mutableParameters: { iops: '5' },
        },
      },
      leader,
    );
    expect(asked[0]?.request).toMatchObject({
      name: 'pvc-1',
      capacityRange: { requiredBytes: GiB, limitBytes: 0n },
      volumeCapabilities: [{ accessMode: { mode: Mode.SINGLE_NODE_WRITER }, accessType: { case: 'mount', value: { fsType: 'xfs' } } }],
      parameters: { kind: 'ssd' },
      secrets: { password: 'of p' },
      mutableParameters: { iops: '5' },
      accessibilityRequirements: { requisite: [{ segments: { zone: 'a' } }], preferred: [{ segments: { zone: 'a' } }] },
    });
    expect(asked[0]?.call.metadata).toMatchObject({ 'mooring-lease': 'kube-system/moor-controllers', 'mooring-epoch': '7' });
    expect(created).toEqual(
      succeeded({
        handle: 'v1',
        capacity: '2Gi',
        source: {
          csi: {
            driver: 'fake.csi.example.com',
            volumeHandle: 'v1',
            fsType: 'xfs',
            volumeAttributes: { 'storage.kubernetes.io/csiProvisionerIdentity': 'mooring-fake.csi.example.com', shard: '3' },
            readOnly: true,
            nodeStageSecretRef: { namespace: 'ns', name: 's' },
          },
        },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'rack', operator: 'In', values: ['1'] },
                  { key: 'zone', operator: 'In', values: ['a'] },
                ],
              },
            ],
          },
        },
        annotations: {
          'volume.kubernetes.io/provisioner-deletion-secret-name': 'p',
          'volume.kubernetes.io/provisioner-deletion-secret-namespace': 'ns',
          'volume.kubernetes.io/controller-modify-secret-name': 'm',
          'volume.kubernetes.io/controller-modify-secret-namespace': 'ns',
        },
      }),
    );
    expect(JSON.stringify(created)).not.toContain('of p');
  });

  const answering = (volume: NonNullable<Awaited<ReturnType<NonNullable<Implementation<typeof Controller>['createVolume']>>>['volume']>) =>
    connected({ services: [Service.VOLUME_ACCESSIBILITY_CONSTRAINTS], controller: { createVolume: async () => ({ volume }) } });

  it('a volume that is too small, or has not the content that was asked for, is not what was asked for', async () => {
    const small = await (await answering({ volumeId: 'v', capacityBytes: 5n })).createVolume(request, leader);
    expect(small).toMatchObject({ ok: true, value: { handle: 'v', mismatch: 'created volume capacity 5 less than requested capacity 1073741824' } });
    const source = { type: 'snapshot', handle: 's1' } as const;
    const empty = await (await answering({ volumeId: 'v', capacityBytes: GiB })).createVolume({ ...request, source }, leader);
    expect(empty).toMatchObject({ ok: true, value: { mismatch: 'volume content source missing' } });
    const other = await (
      await answering({ volumeId: 'v', capacityBytes: GiB, contentSource: { type: { case: 'volume', value: { volumeId: 's1' } } } })
    ).createVolume({ ...request, source }, leader);
    expect(other).toMatchObject({ ok: true, value: { mismatch: 'volume content source is not the snapshot "s1" that was asked for' } });
    const elsewhere = await (await answering({ volumeId: 'v', capacityBytes: GiB, accessibleTopology: [{ segments: { zone: 'b' } }] })).createVolume(
      { ...request, csi: { fsType: '', secrets: {}, accessibilityRequirements: { requisite: [{ segments: { zone: 'a' } }], preferred: [] } } },
      leader,
    );
    expect(elsewhere).toMatchObject({ ok: true, value: { mismatch: expect.stringContaining('outside of the requisite topology') } });
  });

  it('a size of 0 is unknown, and an answer without an id may hide a volume', async () => {
    expect(await (await answering({ volumeId: 'v' })).createVolume(request, leader)).toMatchObject({ ok: true, value: { capacity: '1Gi' } });
    expect(await (await answering({ volumeId: '' })).createVolume(request, leader)).toMatchObject({ ok: false, final: false });
  });

  it.each([
    ['ResourceExhausted', 'node-1', { final: true, reschedule: true }],
    ['ResourceExhausted', undefined, { final: true, reschedule: false }],
    ['Unknown', 'node-1', { final: true, reschedule: false }],
    ['InvalidArgument', 'node-1', { final: true, reschedule: false }],
    ['Aborted', 'node-1', { final: false, reschedule: false }],
    ['DeadlineExceeded', undefined, { final: false, reschedule: false }],
  ] as const)('%s, selected node %s', async (code, selectedNode, expected) => {
    const driver = await connected({
      services: [Service.VOLUME_ACCESSIBILITY_CONSTRAINTS],
      controller: {
        createVolume: async () => {
          throw new RpcError(code, 'no');
        },
      },
    });
    const answer = await driver.createVolume({ ...request, ...(selectedNode === undefined ? {} : { selectedNode }) }, leader);
    expect(answer).toMatchObject({ ok: false, code, message: `rpc error: code = ${code} desc = no`, ...expected });
  });

  it('is not final if the answer cannot be read: there may be a volume', async () => {
    const driver = await connected({
      services: [Service.VOLUME_ACCESSIBILITY_CONSTRAINTS],
      controller: { createVolume: async () => ({ volume: { volumeId: 'v', volumeContext: { long: 'x'.repeat(5 << 20) } } }) },
    });
    const answer = await driver.createVolume({ ...request, selectedNode: 'node-1' }, leader);
    expect(answer).toMatchObject({ ok: false, code: 'ResourceExhausted', final: false, reschedule: false });
  });

  it('is not called without its Secret', async () => {
    let calls = 0;
    const driver = await connected({
      controller: {
        createVolume: async () => {
          calls++;
          return {};
        },
      },
    });
    const answer = await driver.createVolume({ ...request, csi: { fsType: '', secrets: { provisioner: { namespace: 'ns', name: 'missing' } } } }, leader);
    expect(answer).toMatchObject({ ok: false, message: 'error getting secret missing in namespace ns: not found', final: true });
    expect(calls).toBe(0);
  });
});

describe('the other calls', () => {
  it('deletes without the Secret if that is gone', async () => {
    const asked: unknown[] = [];
    const driver = await connected({
      controller: {
        deleteVolume: async ({ volumeId, secrets }) => {
          asked.push({ volumeId, secrets });
          return {};
        },
      },
    });
    expect(await driver.deleteVolume('v', leader, { namespace: 'ns', name: 'missing' })).toMatchObject({ ok: true });
    expect(await driver.deleteVolume('v', leader, { namespace: 'ns', name: 'p' })).toMatchObject({ ok: true });
    expect(asked).toEqual([
      { volumeId: 'v', secrets: {} },
      { volumeId: 'v', secrets: { password: 'of p' } },
    ]);
  });

  it('lists all pages, and gives up on a list that does not end', async () => {
    const paged = await connected({
      rpcs: [Rpc.LIST_VOLUMES],
      controller: {
        listVolumes: async ({ startingToken }) =>
          startingToken === '' ? { entries: [{ volume: { volumeId: 'a' } }], nextToken: '1' } : { entries: [{ volume: { volumeId: 'b' } }] },
      },
    });
    expect(await paged.listVolumes()).toEqual(succeeded(['a', 'b']));
    const endless = await connected({ rpcs: [Rpc.LIST_VOLUMES], controller: { listVolumes: async () => ({ entries: [], nextToken: 'again' }) } });
    expect(await endless.listVolumes()).toMatchObject({ ok: false, code: 'Internal', message: expect.stringContaining('does not end') });
    expect(await (await connected({})).listVolumes()).toMatchObject({ ok: false, code: 'Unimplemented' });
  });

  it('an expansion that answers less than was asked for has failed', async () => {
    const driver = await connected({ rpcs: [Rpc.EXPAND_VOLUME], controller: { controllerExpandVolume: async () => ({ capacityBytes: 1n }) } });
    const answer = await driver.controllerExpandVolume?.({ handle: 'v', capacity: '1Gi', volume: { accessModes: ['ReadWriteOnce'] } }, leader);
    expect(answer).toMatchObject({ ok: false, final: false });
  });

  it('a driver without PUBLISH_UNPUBLISH_VOLUME has every volume attached', async () => {
    const driver = await connected({});
    expect(
      await driver.attacher?.controllerPublishVolume({ handle: 'v', nodeId: 'n', readOnly: false, volumeAttributes: {}, accessModes: [] }, leader),
    ).toEqual(succeeded({}));
  });
});

describe('endpoints', () => {
  it('a socket may appear later, and a driver may come back as another version', async () => {
    const address = newAddress();
    const { drivers, opened } = endpoints();
    opened.open({ address });
    const first = await serve(address, { rpcs: [] });
    await opened.settled(5000);
    expect([...drivers.all()].map(({ capabilities }) => capabilities.provisions)).toEqual([false]);
    const changed = new Promise<string>((resolve) => void drivers.onChange(resolve));
    await first.close();
    await serve(address, { rpcs: [Rpc.CREATE_DELETE_VOLUME], controller: { createVolume: async () => ({ volume: { volumeId: 'v', capacityBytes: GiB } }) } });
    // The loss of the connection shows at the next call.
    for (const driver of drivers.all()) await driver.createVolume(request, leader);
    for (const driver of drivers.all()) await driver.createVolume(request, leader);
    await Promise.race([changed, new Promise((resolve) => void world.timers.after(5000, () => resolve('late')))]);
    expect([...drivers.all()].length).toBe(1);
  });

  it('a driver that restarts as another version between two calls is noticed', async () => {
    const address = newAddress();
    let passedMs = 0;
    const { drivers, opened } = endpoints(new DriverSet([]), { ...world, clock: { ...world.clock, now: () => world.clock.now() + passedMs } });
    opened.open({ address });
    const first = await serve(address, { rpcs: [] });
    await opened.settled(5000);
    passedMs = 60_000;
    const changed = new Promise<string>((resolve) => void drivers.onChange(resolve));
    await first.close();
    await serve(address, { rpcs: [Rpc.CREATE_DELETE_VOLUME] });
    expect(await changed).toBe('fake.csi.example.com');
    expect([...drivers.all()].map(({ capabilities }) => capabilities.provisions)).toEqual([true]);
  });

  it('a driver that comes back is announced; one that answers Unavailable itself was never away', async () => {
    const address = newAddress();
    let passedMs = 0;
    const { drivers, opened } = endpoints(new DriverSet([]), { ...world, clock: { ...world.clock, now: () => world.clock.now() + passedMs } });
    opened.open({ address });
    const controller: FakeDriver['controller'] = {
      createVolume: async () => {
        throw new RpcError('Unavailable', 'the backend is busy');
      },
    };
    const first = await serve(address, { controller });
    await opened.settled(5000);
    const createVolume = async () => {
      for (const driver of drivers.all()) await driver.createVolume(request, leader);
    };
    const since = () => [...drivers.all()][0]?.capabilities.csi?.answersSince ?? 0;
    const cameAt = since();
    passedMs = 60_000;
    await createVolume();
    await first.close();
    await createVolume();
    expect(since()).toBe(cameAt);
    const cameBack = new Promise<string>((resolve) => void drivers.onChange(resolve));
    await serve(address, { controller });
    expect(await cameBack).toBe('fake.csi.example.com');
    expect(since()).toBeGreaterThanOrEqual(cameAt + 60_000);
  });

  it('waits for a driver that is not ready', async () => {
    const address = newAddress();
    let probes = 0;
    await serve(address, { identity: { probe: async () => ({ ready: ++probes > 2 }) } });
    const { drivers, opened } = endpoints();
    opened.open({ address });
    await opened.settled(5000);
    expect([...drivers.all()].length).toBe(1);
    expect(probes).toBe(3);
  });

  it('a second driver of the same name never acts, nor one with an invalid or an unexpected name', async () => {
    const { drivers, opened } = endpoints();
    const [one, two, three, four] = [newAddress(), newAddress(), newAddress(), newAddress()];
    for (const address of [one, two, four]) await serve(address, {});
    await serve(three, { name: 'kubernetes.io/host-path' });
    opened.open({ address: one });
    await opened.settled(5000);
    const problems: Promise<string>[] = [{ address: two }, { address: three }, { address: four, driver: 'other' }].map(
      (endpoint) => new Promise((resolve) => void opened.open({ ...endpoint, onProblem: resolve })),
    );
    expect(await Promise.all(problems)).toEqual([
      'there is another driver fake.csi.example.com in this process',
      expect.stringContaining('the driver\'s name is "kubernetes.io/host-path"'),
      "the driver's name is fake.csi.example.com, not other",
    ]);
    expect([...drivers.all()].length).toBe(1);
  });

  it('an endpoint that is closed takes its driver along', async () => {
    const address = newAddress();
    await serve(address, {});
    const { drivers, opened } = endpoints();
    const close = opened.open({ address });
    await opened.settled(5000);
    close();
    expect([...drivers.all()]).toEqual([]);
  });
});
