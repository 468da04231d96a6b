import { RpcError } from '../../grpc/status.ts';
import type { Bench, TestVolume } from '../bench.ts';
import { clauses } from '../clauses.ts';
import { expectData, expectOk, expectThat, mountsAt, writeData } from '../expect.ts';
import { leaks, listVolumeIds, takeInventory } from '../inventory.ts';
import { textOf } from '../ledger.ts';
import type { Proxy } from '../proxy.ts';
import { expand } from '../specs/expansion.ts';
import { expectOnce } from '../specs/lists.ts';
import { NotApplicable, Violation } from '../violation.ts';
import { type Slot, slots, type Step, stepText } from './step.ts';

/** What must be true of a slot, by the steps so far. */
interface SlotState {
  request: ReturnType<Bench['createVolumeRequest']> | undefined;
  volume: TestVolume | undefined;
  isAttached: boolean;
  isStaged: boolean;
  isPublished: boolean;
  snapshotId: string | undefined;
  snapshotRequest: ReturnType<Bench['createSnapshotRequest']> | undefined;
  hasData: boolean;
}

const emptySlot = (): SlotState => ({
  request: undefined,
  volume: undefined,
  isAttached: false,
  isStaged: false,
  isPublished: false,
  snapshotId: undefined,
  snapshotRequest: undefined,
  hasData: false,
});

/** The call of a step, and what it makes true. */
interface Effect {
  readonly proxy: Proxy;
  perform(): Promise<unknown>;
  /** With the answer of the last call. */
  done(): void;
}

/** Runs the steps, checks after each what must be true, and cleans up. */
export async function runSteps(bench: Bench, steps: readonly Step[]): Promise<void> {
  const before = await takeInventory(bench.inventorySources());
  const state: Record<Slot, SlotState> = { a: emptySlot(), b: emptySlot() };
  let problem: unknown;
  try {
    for (const [index, step] of steps.entries()) await runStep(bench, { step, state, index });
  } catch (error) {
    problem = error;
  }
  if (!bench.driver.isRunning) await bench.driver.restart('SIGKILL');
  const failures = await bench.ledger.undoAll();
  if (problem !== undefined) throw problem;
  if (failures.length > 0) throw new Violation(`cleaning up failed: ${failures.join('; ')}`, clauses.retried);
  const left = leaks(before, await takeInventory(bench.inventorySources()));
  if (left.length > 0) throw new Violation(`leaked: ${left.slice(0, 10).join(', ')}`, clauses.retried);
}

async function runStep(bench: Bench, { step, state, index }: { step: Step; state: Record<Slot, SlotState>; index: number }): Promise<void> {
  if (step.verb === 'restart') {
    if (bench.driver.canRestart) await bench.driver.restart();
    return;
  }
  const slot = state[step.slot];
  const effect = effectOf(bench, step, slot);
  if (effect === undefined) return;
  await interrupt(bench, { effect, step, afterMs: index % 4 });
  await expectOk(`step ${index + 1}, ${stepText(step)},`, () => bench.settle(() => effect.perform()));
  effect.done();
  for (const each of slots) await checkSlot(bench, state[each], each);
}

async function interrupt(bench: Bench, { effect, step, afterMs }: { effect: Effect; step: Step; afterMs: number }): Promise<void> {
  const attempt = async (): Promise<void> => {
    try {
      await effect.perform();
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  };
  switch (step.interruption) {
    case undefined:
      return;
    case 'lost':
      effect.proxy.inject({ type: 'drop' });
      return attempt();
    case 'cut':
      effect.proxy.inject({ type: 'cut', afterMs });
      return attempt();
    case 'cancelled':
      effect.proxy.inject({ type: 'cancel', afterMs });
      return attempt();
    case 'twice':
      for (const result of await Promise.allSettled([effect.perform(), effect.perform()]))
        if (result.status === 'rejected' && !(result.reason instanceof RpcError && result.reason.code === 'Aborted'))
          throw new Violation(`${stepText(step)}: one of two equal calls answers ${textOf(result.reason)}, neither OK nor Aborted`, clauses.aborted);
      return;
    case 'killed': {
      const call = attempt();
      await new Promise<void>((resolve) => void bench.context.world.timers.after(afterMs, resolve));
      await bench.driver.kill();
      await call;
      return bench.driver.start();
    }
  }
}

/** Undefined: the step is not possible now, or the driver has no such call. */
function effectOf(bench: Bench, { verb }: Step, slot: SlotState): Effect | undefined {
  const { controllerProxy, nodeProxy } = bench.driver;
  const { volume } = slot;
  if (verb === 'create') {
    const request = (slot.request ??= bench.createVolumeRequest());
    let created: TestVolume | undefined;
    return {
      proxy: controllerProxy,
      async perform() {
        created = await bench.performCreateVolume(request);
        if (volume !== undefined && created.id !== volume.id)
          throw new Violation(`CreateVolume of the same name answers the volume ${created.id}, before it was ${volume.id}`, clauses.createIdempotent);
      },
      done: () => void (slot.volume ??= created),
    };
  }
  if (volume === undefined) return undefined;
  const [attaches, stages] = [bench.has('controller:PUBLISH_UNPUBLISH_VOLUME'), bench.has('node:STAGE_UNSTAGE_VOLUME')];
  const isIdle = !slot.isPublished && !slot.isStaged && !slot.isAttached;
  const effect = (proxy: Proxy, perform: () => Promise<unknown>, done: () => void): Effect => ({ proxy, perform, done });
  switch (verb) {
    case 'attach':
      return attaches
        ? effect(
            controllerProxy,
            () => bench.attach(volume),
            () => void (slot.isAttached = true),
          )
        : undefined;
    case 'stage':
      return stages && (slot.isAttached || !attaches)
        ? effect(
            nodeProxy,
            () => bench.stage(volume),
            () => void (slot.isStaged = true),
          )
        : undefined;
    case 'publish':
      if ((stages && !slot.isStaged) || (attaches && !slot.isAttached)) return undefined;
      return effect(
        nodeProxy,
        () => bench.publish(volume),
        () => void (slot.isPublished = true),
      );
    case 'unpublish':
      return effect(
        nodeProxy,
        () => bench.unpublish(volume),
        () => void (slot.isPublished = false),
      );
    case 'unstage':
      return stages && !slot.isPublished
        ? effect(
            nodeProxy,
            () => bench.unstage(volume),
            () => void (slot.isStaged = false),
          )
        : undefined;
    case 'detach':
      if (!attaches || slot.isStaged || slot.isPublished) return undefined;
      return effect(
        controllerProxy,
        () => bench.detach(volume),
        () => void (slot.isAttached = false),
      );
    case 'snapshot': {
      if (!bench.has('controller:CREATE_DELETE_SNAPSHOT')) return undefined;
      const request = (slot.snapshotRequest ??= bench.createSnapshotRequest(volume));
      let id: string | undefined;
      return effect(
        controllerProxy,
        async () => {
          id = (await bench.performCreateSnapshot(request)).snapshotId;
          if (slot.snapshotId !== undefined && id !== slot.snapshotId)
            throw new Violation(`CreateSnapshot of the same name answers the snapshot ${id}, before it was ${slot.snapshotId}`, clauses.snapshotIdempotent);
        },
        () => void (slot.snapshotId ??= id),
      );
    }
    case 'unsnapshot': {
      const { snapshotId } = slot;
      if (snapshotId === undefined) return undefined;
      return effect(
        controllerProxy,
        () => bench.deleteSnapshot(snapshotId),
        () => void (slot.snapshotId = slot.snapshotRequest = undefined),
      );
    }
    case 'expand':
      if (!bench.has('controller:EXPAND_VOLUME') || (!bench.has('plugin:ONLINE') && !isIdle)) return undefined;
      return effect(
        controllerProxy,
        () => expand(bench, volume, bench.context.options.volumeSize * 2n),
        () => undefined,
      );
    case 'delete':
      if (!isIdle || slot.snapshotId !== undefined) return undefined;
      return effect(
        controllerProxy,
        () => bench.deleteVolume(volume),
        () => Object.assign(slot, emptySlot()),
      );
    case 'restart':
      return undefined;
  }
}

async function checkSlot(bench: Bench, slot: SlotState, name: Slot): Promise<void> {
  const { volume } = slot;
  if (volume === undefined) return;
  if (bench.has('controller:LIST_VOLUMES')) expectOnce('ListVolumes', await listVolumeIds(bench.driver.controller), volume.id);
  const target = bench.targetPath(volume, 'pod');
  const mounts = await mountsAt(bench, target);
  if (!slot.isPublished) expectThat(mounts === 0, `volume ${name} is not published, but ${mounts} mounts are at ${target}`);
  else if (bench.has('mounts')) expectThat(mounts === 1, `volume ${name} is published, but ${mounts} mounts are at ${target}`);
  if (slot.isPublished && bench.context.options.accessType === 'mount') await checkData(bench, slot, volume);
}

async function checkData(bench: Bench, slot: SlotState, volume: TestVolume): Promise<void> {
  if (slot.hasData) return expectData(bench, volume, volume.id);
  try {
    await writeData(bench, volume, volume.id);
    slot.hasData = true;
  } catch (error) {
    if (!(error instanceof NotApplicable)) throw error;
  }
}
