import type { Fence } from './client.ts';
import { LeaderElection, type LeaderOptions } from './leader.ts';
import type { Loop } from './loop.ts';

export interface LedControllersOptions {
  readonly election: Omit<LeaderOptions, 'onLeading' | 'onDeposed'>;
  /** Starts the controllers of one term. Their clients write under its fence, and say so when it no longer holds. */
  readonly start: (term: Term) => readonly Loop[];
}

export interface Term {
  readonly fence: Fence;
  /** For the loops' `onDeposed`. */
  readonly deposed: () => void;
}

export interface RunningControllers {
  readonly leading: boolean;
  /** Stops the controllers, lets the passes under way finish, then gives the lease back. */
  stop(): Promise<void>;
}

/** Controllers that run while this process leads. Each term starts them anew: nothing is carried over from one to the next. */
export function runLedControllers(options: LedControllersOptions): RunningControllers {
  let loops: Loop[] = [];
  const stopLoops = () => Promise.all(loops.splice(0).map((loop) => loop.stop()));
  const election: LeaderElection = new LeaderElection({
    ...options.election,
    onLeading: (fence) => {
      loops = [...options.start({ fence, deposed: () => election.deposed() })];
    },
    // Not waited for: what they still write is fenced off.
    onDeposed: () => void stopLoops(),
  });
  election.start();
  return {
    get leading() {
      return election.leading;
    },
    async stop() {
      // The controllers first: once the lease is given back their last writes would be refused.
      await stopLoops();
      await election.stop();
    },
  };
}
