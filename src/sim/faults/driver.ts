import { type DriverAnswer, type DriverErrorCode, failed, type VolumeDriver } from '../../drivers/contract.ts';
import type { SimulatedProcess } from '../process.ts';
import type { SimulatedWorld } from '../world.ts';
import type { Verdict } from '../exhaustive/gate.ts';
import type { Moment } from './faults.ts';

/** What is to go wrong with the next calls, whoever makes them. */
export class BackendTrouble {
  readonly failures: Moment[] = [];
  readonly crashes: { calls: number; readonly moment: Moment; readonly onCrash: (process: SimulatedProcess) => void }[] = [];
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

export interface TroubledOptions {
  readonly world: SimulatedWorld;
  readonly process: SimulatedProcess;
  readonly trouble: BackendTrouble;
  /** Whether the process survives this call, where somebody chooses that. */
  readonly verdict?: ((what: string) => Promise<Verdict>) | undefined;
  readonly onCrash?: (process: SimulatedProcess) => void;
  /** Hears that a disk is to be deleted; what it returns is called when that gets to the backend. */
  readonly onDelete?: (handle: string) => () => void;
}

/** A driver as a process reaches it: slow, failing, and not there any more once the process is dead. */
export function troubled(driver: VolumeDriver, options: TroubledOptions): VolumeDriver {
  const through = <T>(what: string, call: () => Promise<DriverAnswer<T>>) => callThrough(what, call, options);
  const { attaching } = driver;
  return {
    facts: driver.facts,
    handleFor: (name) => driver.handleFor(name),
    handleOf: (source) => driver.handleOf(source),
    create: (request, leader) => through(`create ${request.name}`, () => driver.create(request, leader)),
    delete: (handle, leader) => {
      const arrives = options.onDelete?.(handle);
      return through(`delete ${handle}`, () => {
        arrives?.();
        return driver.delete(handle, leader);
      });
    },
    list: () => callThrough('', () => driver.list(), { ...options, verdict: undefined }),
    expand: (request, leader) =>
      through(`expand ${request.handle}`, async () => driver.expand?.(request, leader) ?? failed('Unimplemented', `${driver.facts.name} expands nothing`)),
    ...(attaching === undefined
      ? {}
      : {
          attaching: {
            publish: (request, leader) => through(`publish ${request.handle} ${request.nodeId}`, () => attaching.publish(request, leader)),
            unpublish: (request, leader) => through(`unpublish ${request.handle} ${request.nodeId}`, () => attaching.unpublish(request, leader)),
            ...(attaching.published === undefined
              ? {}
              : { published: () => callThrough('', async () => attaching.published?.() ?? failed('Unimplemented', ''), { ...options, verdict: undefined }) }),
          },
        }),
  };
}

async function callThrough<T>(what: string, call: () => Promise<DriverAnswer<T>>, options: TroubledOptions): Promise<DriverAnswer<T>> {
  const { world, process, trouble } = options;
  if (!process.alive) return await never();
  const verdict = options.verdict === undefined ? 'go' : await options.verdict(what);
  if (verdict === 'die-before') options.onCrash?.(process);
  if (!process.alive) return await never();
  const [crash, failure] = [trouble.crash(), trouble.failures.shift()];
  if (trouble.delayMs > 0) await world.sleep(world.random.float() * trouble.delayMs);
  if (crash?.moment === 'before') crash.onCrash(process);
  // What was on its way when its process died may arrive all the same, however late.
  if (crash?.moment === 'before' && world.random.chance(0.5)) return await never();
  if (failure === 'before') return failed(pick(world, beforeEffect), 'simulated: nothing was done');
  const answer = await call();
  if (crash?.moment === 'after') crash.onCrash(process);
  if (verdict === 'die-after') options.onCrash?.(process);
  await process.whileAwake(undefined);
  return failure === 'after' ? failed(pick(world, afterEffect), 'simulated: nobody knows what was done') : answer;
}

const beforeEffect: readonly DriverErrorCode[] = ['Internal', 'Unavailable', 'DeadlineExceeded', 'ResourceExhausted', 'Aborted'];
const afterEffect: readonly DriverErrorCode[] = ['DeadlineExceeded', 'Unavailable', 'Unknown'];

const pick = (world: SimulatedWorld, codes: readonly DriverErrorCode[]): DriverErrorCode => codes[world.random.below(codes.length)] ?? 'Unknown';

/** A new one each time: what waits for a promise is kept for as long as the promise is. */
const never = (): Promise<never> => new Promise(() => undefined);
