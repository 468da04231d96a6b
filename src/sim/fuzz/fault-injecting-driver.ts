import { type DriverAnswer, type DriverErrorCode, failed, isFinal, type VolumeDriver } from '../../drivers/contract.ts';
import type { ExpandCall } from '../invariants/facts.ts';
import { never, type SimulatedProcess } from '../world/process.ts';
import type { SimulatedWorld } from '../world/world.ts';
import type { GateVerdict } from './gate.ts';
import type { EffectMoment } from './plan/faults.ts';

/** The faults of the next driver calls, of any process. */
export class DriverFaults {
  readonly failures: EffectMoment[] = [];
  readonly crashes: { calls: number; readonly moment: EffectMoment; readonly onCrash: (process: SimulatedProcess) => void }[] = [];
  delayMs = 0;

  heal(): void {
    this.failures.length = 0;
    this.crashes.length = 0;
    this.delayMs = 0;
  }

  /** The crash that is due with this call. */
  crash() {
    for (const crash of this.crashes) crash.calls--;
    const index = this.crashes.findIndex(({ calls }) => calls < 0);
    return index < 0 ? undefined : this.crashes.splice(index, 1)[0];
  }
}

export interface FaultInjectionOptions {
  readonly world: SimulatedWorld;
  readonly process: SimulatedProcess;
  readonly faults: DriverFaults;
  /** Whether the process survives this call; absent: it does. */
  readonly verdict?: ((what: string) => Promise<GateVerdict>) | undefined;
  readonly onCrash?: (process: SimulatedProcess) => void;
  /** Called when a disk is to be deleted; what it returns is called when the call reaches the backend. */
  readonly onDelete?: (handle: string) => () => void;
  /** Called when a disk is to be expanded; what it returns is called with the answer that the process gets. */
  readonly onExpand?: (handle: string, capacity: string) => (answer: ExpandAnswer) => void;
}

type ExpandAnswer = Exclude<ExpandCall['outcome'], 'asked'>;

/** The driver as a process calls it: with delays and failures, and without answers once the process is dead. */
export function faultInjectingDriver(driver: VolumeDriver, options: FaultInjectionOptions): VolumeDriver {
  const through = <T>(what: string, call: () => Promise<DriverAnswer<T>>) => callThrough(what, call, options);
  const { attacher: attaching } = driver;
  return {
    capabilities: driver.capabilities,
    handleFor: (name) => driver.handleFor(name),
    handleOf: (source) => driver.handleOf(source),
    createVolume: (request, leader) => through(`create ${request.name}`, () => driver.createVolume(request, leader)),
    deleteVolume: (handle, leader) => {
      const arrives = options.onDelete?.(handle);
      return through(`delete ${handle}`, () => {
        arrives?.();
        return driver.deleteVolume(handle, leader);
      });
    },
    listVolumes: () => callThrough('', () => driver.listVolumes(), { ...options, verdict: undefined }),
    controllerExpandVolume: async (request, leader) => {
      const answered = options.onExpand?.(request.handle, request.capacity);
      const answer = await through(
        `expand ${request.handle}`,
        async () => driver.controllerExpandVolume?.(request, leader) ?? failed('Unimplemented', `${driver.capabilities.name} expands nothing`),
      );
      answered?.(answer.ok ? 'expanded' : isFinal(answer) ? 'refused' : 'unknown');
      return answer;
    },
    ...(attaching === undefined
      ? {}
      : {
          attacher: {
            controllerPublishVolume: (request, leader) =>
              through(`publish ${request.handle} ${request.nodeId}`, () => attaching.controllerPublishVolume(request, leader)),
            controllerUnpublishVolume: (request, leader) =>
              through(`unpublish ${request.handle} ${request.nodeId}`, () => attaching.controllerUnpublishVolume(request, leader)),
            ...(attaching.listPublishedVolumes === undefined
              ? {}
              : {
                  listPublishedVolumes: () =>
                    callThrough('', async () => attaching.listPublishedVolumes?.() ?? failed('Unimplemented', ''), { ...options, verdict: undefined }),
                }),
          },
        }),
  };
}

async function callThrough<T>(what: string, call: () => Promise<DriverAnswer<T>>, options: FaultInjectionOptions): Promise<DriverAnswer<T>> {
  const { world, process, faults } = options;
  if (!process.alive) return await never();
  const verdict = options.verdict === undefined ? 'go' : await options.verdict(what);
  if (verdict === 'crash-before') options.onCrash?.(process);
  if (!process.alive) return await never();
  const [crash, failure] = [faults.crash(), faults.failures.shift()];
  if (faults.delayMs > 0) await world.sleep(world.random.float() * faults.delayMs);
  if (crash?.moment === 'before') crash.onCrash(process);
  // A call that was under way when its process died may still reach the backend.
  if (crash?.moment === 'before' && world.random.chance(0.5)) return await never();
  if (failure === 'before') return failed(pick(world, beforeEffect), 'simulated: nothing was done');
  const answer = await call();
  if (crash?.moment === 'after') crash.onCrash(process);
  if (verdict === 'crash-after') options.onCrash?.(process);
  await process.untilResumed(undefined);
  return failure === 'after' ? failed(pick(world, afterEffect), 'simulated: the outcome is unknown') : answer;
}

const beforeEffect: readonly DriverErrorCode[] = ['Internal', 'Unavailable', 'DeadlineExceeded', 'ResourceExhausted', 'Aborted'];
const afterEffect: readonly DriverErrorCode[] = ['DeadlineExceeded', 'Unavailable', 'Unknown'];

const pick = (world: SimulatedWorld, codes: readonly DriverErrorCode[]): DriverErrorCode => codes[world.random.below(codes.length)] ?? 'Unknown';
