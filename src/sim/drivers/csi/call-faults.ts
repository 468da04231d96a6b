import type { ErrorCode } from '../../../grpc/status.ts';
import { RpcError } from '../../../grpc/status.ts';
import { never } from '../../world/process.ts';
import type { SimulatedWorld } from '../../world/world.ts';

/** What a driver does wrong at one of its next calls. */
export type CallFault =
  /** `after`: with a code that leaves the outcome open, once the effect has happened. */
  | { readonly what: 'refuse'; readonly code: ErrorCode; readonly moment: 'before' | 'after' }
  /** It takes so long until the effect, whatever the caller's deadline is. */
  | { readonly what: 'late'; readonly ms: number }
  /** The answer never comes. */
  | { readonly what: 'hang'; readonly moment: 'before' | 'after' }
  | { readonly what: 'crash'; readonly moment: 'before' | 'after'; readonly backMs: number }
  /** One call is answered twice, or with bytes that are no message. */
  | { readonly what: 'twice' | 'garbage' };

/** The faults of the next calls to one server. */
export class CallFaults {
  readonly #world: SimulatedWorld;
  readonly #armed: { calls: number; readonly fault: CallFault }[] = [];
  /** By the signal of the call. */
  readonly #drawn = new WeakMap<AbortSignal, CallFault>();
  /** Called for a crash; restarts the server later. */
  onCrash: (backMs: number) => void = () => undefined;

  constructor(world: SimulatedWorld) {
    this.#world = world;
  }

  /** At the call after `calls` others. */
  arm(fault: CallFault, calls: number): void {
    this.#armed.push({ calls, fault });
  }

  heal(): void {
    this.#armed.length = 0;
  }

  /** The fault that is due with this call. */
  draw(call: AbortSignal): CallFault | undefined {
    for (const armed of this.#armed) armed.calls--;
    const index = this.#armed.findIndex(({ calls }) => calls < 0);
    const fault = index < 0 ? undefined : this.#armed.splice(index, 1)[0]?.fault;
    if (fault !== undefined) this.#drawn.set(call, fault);
    return fault;
  }

  /** Performs the effect with the fault that was drawn for the call. */
  async perform<T>(call: AbortSignal, effect: () => Promise<T>): Promise<T> {
    const fault = this.#drawn.get(call);
    await this.#before(fault);
    const value = await effect();
    if (fault?.what === 'crash') return this.#crash(fault.backMs);
    if (fault?.what === 'hang') return never();
    if (fault?.what === 'refuse') throw refusal(fault.code);
    return value;
  }

  async #before(fault: CallFault | undefined): Promise<void> {
    if (fault?.what === 'late') return this.#world.sleep(fault.ms);
    if (fault === undefined || !('moment' in fault) || fault.moment === 'after') return undefined;
    switch (fault.what) {
      case 'refuse':
        throw refusal(fault.code);
      case 'hang':
        return never();
      case 'crash':
        return this.#crash(fault.backMs);
    }
  }

  #crash(backMs: number): Promise<never> {
    this.onCrash(backMs);
    return never();
  }
}

const refusal = (code: ErrorCode): RpcError => new RpcError(code, 'simulated');

/** The codes that the CSI specification lists: nothing was done. NotFound and Unimplemented would be lies. */
export const refusals: readonly ErrorCode[] = [
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Internal',
  'Unavailable',
  'Unauthenticated',
];

/** After these the operation may go on in the driver: external-provisioner's and the kubelet's list. */
export const openEnded: readonly ErrorCode[] = ['Canceled', 'DeadlineExceeded', 'Aborted', 'Unavailable'];
