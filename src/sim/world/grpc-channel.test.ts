import { expect, test } from 'vitest';
import type { CallHandler, Channel } from '../../grpc/channel.ts';
import { createClient } from '../../grpc/client.ts';
import { Controller, Identity } from '../../grpc/generated/csi.ts';
import { handlersOf } from '../../grpc/service.ts';
import { RpcError } from '../../grpc/status.ts';
import { SimulatedChannel, SimulatedGrpcServer } from './grpc-channel.ts';
import { type NetworkFaults, perfectNetwork, SimulatedNetwork } from './network.ts';
import { type SimulatedWorld, simulate } from './world.ts';

function driver(world: SimulatedWorld, faults: Partial<NetworkFaults> = {}) {
  const created: string[] = [];
  const aborted: string[] = [];
  const echo: CallHandler = async function* echo({ requests }) {
    for await (const request of requests) yield request;
  };
  const server = new SimulatedGrpcServer(
    handlersOf(Identity, { probe: () => Promise.resolve({ ready: true }) }),
    handlersOf(Controller, {
      createVolume: async ({ name }, { signal, metadata }) => {
        created.push(`${name} ${metadata['x-epoch']}`);
        signal.addEventListener('abort', () => aborted.push(name));
        await world.sleep(60_000);
        return { volume: { volumeId: name, capacityBytes: 5n } };
      },
      deleteVolume: () => Promise.reject(new RpcError('FailedPrecondition', 'in use')),
    }),
    new Map([['/test.Calls/Echo', echo]]),
  );
  const channel: Channel = new SimulatedChannel(server, new SimulatedNetwork(world, { ...perfectNetwork, ...faults }));
  return { server, channel, created, aborted, controller: createClient(Controller, channel), identity: createClient(Identity, channel) };
}

test('calls carry messages, codes and metadata, on virtual time', () =>
  simulate(1, async (world) => {
    const { controller, channel } = driver(world, { delayMs: 10 });
    const { volume } = await controller.createVolume({ name: 'data' }, { metadata: { 'x-epoch': '3' } });
    expect(volume).toMatchObject({ volumeId: 'data', capacityBytes: 5n });
    expect(world.clock.monotonic()).toBeGreaterThanOrEqual(60_000);
    await expect(controller.deleteVolume({ volumeId: 'data' })).rejects.toMatchObject({ code: 'FailedPrecondition', message: 'in use', isAnswer: true });
    await expect(controller.createSnapshot({})).rejects.toMatchObject({ code: 'Unimplemented' });
    const answers: number[] = [];
    const requests = async function* requests() {
      for (const each of [1, 2, 3]) yield await Promise.resolve(Uint8Array.of(each));
    };
    for await (const [first] of channel.stream('/test.Calls/Echo', requests())) answers.push(first ?? 0);
    expect(answers).toEqual([1, 2, 3]);
  }));

test('a deadline and a cancel reach the server', () =>
  simulate(2, async (world) => {
    const { controller, created, aborted } = driver(world);
    await expect(controller.createVolume({ name: 'late' }, { timeoutMs: 1_000 })).rejects.toMatchObject({ code: 'DeadlineExceeded' });
    expect(world.clock.monotonic()).toBe(1_000);
    const abort = new AbortController();
    const waiting = controller.createVolume({ name: 'left' }, { signal: abort.signal });
    world.timers.after(5, () => abort.abort());
    await expect(waiting).rejects.toMatchObject({ code: 'Canceled' });
    expect(created).toHaveLength(2);
    expect(aborted).toEqual(['late', 'left']);
  }));

test('a lost request has no effect, a lost answer has had it; both are Unavailable', () =>
  simulate(3, async (world) => {
    const before = driver(world, { lostBefore: 1 });
    await expect(before.controller.createVolume({ name: 'a' })).rejects.toMatchObject({ code: 'Unavailable' });
    expect(before.created).toEqual([]);
    const after = driver(world, { lostAfter: 1 });
    await expect(after.controller.createVolume({ name: 'a' })).rejects.toMatchObject({ code: 'Unavailable', isAnswer: false });
    expect(after.created).toEqual(['a undefined']);
    await expect(driver(world, { cut: 1 }).identity.probe({})).rejects.toMatchObject({ code: 'Unavailable' });
  }));

test('a crash cuts the calls in flight, and the server refuses others until it starts', () =>
  simulate(4, async (world) => {
    const { controller, identity, server, aborted } = driver(world);
    const waiting = controller.createVolume({ name: 'data' });
    world.timers.after(100, () => server.crash());
    await expect(waiting).rejects.toMatchObject({ code: 'Unavailable' });
    expect(aborted).toEqual(['data']);
    await expect(identity.probe({})).rejects.toMatchObject({ code: 'Unavailable' });
    server.start();
    expect(await identity.probe({})).toMatchObject({ ready: true });
  }));

test('a closed channel ends its calls', () =>
  simulate(5, async (world) => {
    const { controller, channel } = driver(world);
    const waiting = controller.createVolume({ name: 'data' });
    world.timers.after(100, () => channel.close());
    await expect(waiting).rejects.toMatchObject({ code: 'Canceled' });
    await expect(controller.createVolume({ name: 'data' })).rejects.toMatchObject({ code: 'Canceled' });
  }));
