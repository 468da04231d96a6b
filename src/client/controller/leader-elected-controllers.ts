import type { Fence } from '../client.ts';
import { LeaderElection, type LeaderElectionOptions } from './leader-election.ts';

export interface LeaderElectedControllersOptions {
  readonly election: Omit<LeaderElectionOptions, 'onLeading' | 'onDeposed'>;
  /**
   * Starts the controllers of one term. Their clients write under its fence, and their loops call `deposed` when the fence no longer
   * holds. All that it returns is stopped when the term ends: the loops, and the informers and recorders of this term.
   */
  readonly start: (term: LeaderTerm) => readonly Stoppable[];
}

export interface Stoppable {
  stop(): Promise<void> | void;
}

export interface LeaderTerm {
  readonly fence: Fence;
  /** For the loops' `onDeposed`. */
  readonly deposed: () => void;
}

export interface RunningControllers {
  readonly leading: boolean;
  /** Stops the controllers, lets the passes under way finish, then releases the lease. */
  stop(): Promise<void>;
}

/** Controllers that run while this process leads. Each term starts them anew: nothing is carried over from one to the next. */
export function runLeaderElectedControllers(options: LeaderElectedControllersOptions): RunningControllers {
  let running: readonly Stoppable[] = [];
  let stopping = false;
  // All at once: a controller must not go on while another one finishes.
  const stopAll = async () => {
    const stopped = running.map(async (each) => each.stop());
    running = [];
    await Promise.all(stopped);
  };
  const election: LeaderElection = new LeaderElection({
    ...options.election,
    onLeading: (fence) => {
      if (!stopping) running = options.start({ fence, deposed: () => election.deposed() });
    },
    // Not waited for: their last writes are fenced off.
    onDeposed: () => void stopAll(),
  });
  election.start();
  return {
    get leading() {
      return election.leading;
    },
    async stop() {
      stopping = true;
      // The controllers first: once the lease is released, their last writes would be refused.
      await stopAll();
      await election.stop();
    },
  };
}
