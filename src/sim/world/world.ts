import type { Cancel, Log, LogFields, World } from '../../world/world.ts';
import { Prng } from './prng.ts';
import { type Plan, Timetable } from './timetable.ts';

/**
 * A world on virtual time in which one integer decides every order.
 *
 *     await simulate(42, async (world) => {
 *       world.timers.after(3_600_000, () => …);    // an hour later, in no time
 *     });
 *
 * Deterministic: everything that uses only this world and promises. Each step draws one callback from all that can run now (`soon` callbacks,
 * and timers that are due, independent of the order in which they were set); then all promise reactions that follow from it run, in the order
 * that the language defines. Time stands still meanwhile and jumps to the next timer only when nothing can run.
 * Not deterministic: real I/O, `setTimeout`, the real clock, real randomness.
 *
 * So seed and commit replay a failure. Code that relies on two callbacks running in the order in which they were set is wrong in this world,
 * and would be wrong with two real processes.
 */
export class SimulatedWorld implements World {
  readonly seed: number;
  readonly random: Prng;
  readonly clock = { now: () => this.#now, monotonic: () => this.#now - this.#begin };
  readonly timers = {
    after: (ms: number, callback: () => void): Cancel => this.#plan(this.#now + Math.max(0, ms), callback),
    soon: (callback: () => void): void => void this.#plan(this.#now, callback),
  };
  readonly log: Log;
  /** The newest lines, oldest first. */
  readonly lines: LogLine[] = [];
  /** A separate generator for the order: a component that draws one more number does not reorder the rest. */
  readonly #order: Prng;
  readonly #waiting = new Timetable();
  #ready: Plan[] = [];
  readonly #begin: number;
  #now: number;
  #steps = 0;

  constructor(seed: number, { begin = epoch, keepsLog = true }: Omit<SimulationLimits, 'steps'> = {}) {
    this.seed = seed;
    this.#begin = begin;
    this.#now = begin;
    const prng = new Prng(seed);
    this.#order = prng.fork();
    this.random = prng.fork();
    this.log = keepsLog ? this.#logWith({}) : silentLog;
  }

  get steps(): number {
    return this.#steps;
  }

  /** Resolves `ms` later. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.timers.after(ms, resolve));
  }

  /** Called when nothing can run before time moves on. True: now something can. */
  onIdle: () => boolean = () => false;

  /** Runs one callback, moving time on if need be. False: there is none. */
  step(): boolean {
    for (;;) {
      if (this.#ready.length === 0 && this.onIdle()) return true;
      if (this.#ready.length === 0) this.#now = Math.max(this.#now, this.#waiting.nextTime() ?? this.#now);
      for (let next = this.#waiting.nextTime(); next !== undefined && next <= this.#now; next = this.#waiting.nextTime()) {
        const due = this.#waiting.take();
        if (due !== undefined) this.#ready.push(due);
      }
      const plan = this.#draw();
      if (plan === undefined) return false;
      if (plan.cancelled) continue;
      this.#steps++;
      plan.callback();
      return true;
    }
  }

  #draw(): Plan | undefined {
    const index = this.#order.below(this.#ready.length);
    const plan = this.#ready[index];
    const last = this.#ready.pop();
    if (last !== undefined && index < this.#ready.length) this.#ready[index] = last;
    return plan;
  }

  #plan(at: number, callback: () => void): Cancel {
    const plan: Plan = { at, callback, cancelled: false };
    if (at <= this.#now) this.#ready.push(plan);
    else this.#waiting.add(plan);
    return () => {
      plan.cancelled = true;
    };
  }

  #logWith(fields: LogFields): Log {
    const at =
      (level: LogLine['level']) =>
      (message: string, more: LogFields = {}) => {
        if (this.lines.length >= keptLines) this.lines.splice(0, keptLines / 2);
        this.lines.push({ at: this.clock.monotonic(), level, message, fields: { ...fields, ...more } });
      };
    return { debugs: true, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), with: (more) => this.#logWith({ ...fields, ...more }) };
  }
}

export interface LogLine {
  /** Milliseconds since the simulation began. */
  readonly at: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** The default begin of a simulation: 2026-01-01T00:00:00Z. */
const epoch = Date.UTC(2026, 0, 1);
const keptLines = 10_000;

export interface SimulationLimits {
  /** The most callbacks; a simulation that needs more fails as one that never ends. */
  readonly steps: number;
  /** When it begins; milliseconds since 1970. */
  readonly begin?: number;
  /** False: log lines are not kept, and not even built. */
  readonly keepsLog?: boolean;
}

const silentLog: Log = {
  debugs: false,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
};

/** Runs `body`, and everything that it starts, until it resolves. Rejects, with the seed, if it fails, gets stuck or never ends. */
export async function simulate<T>(seed: number, body: (world: SimulatedWorld) => Promise<T>, limits: SimulationLimits = { steps: 1_000_000 }): Promise<T> {
  const world = new SimulatedWorld(seed, limits);
  try {
    return await runUntilSettled(world, body(world), limits.steps);
  } catch (error) {
    throw new SimulationError(world, error);
  }
}

/** Runs the world, step by step, until the work has settled. Rejects as the work does, or if it gets stuck or needs more steps. */
export async function runUntilSettled<T>(world: SimulatedWorld, work: Promise<T>, mostSteps: number): Promise<T> {
  const last = world.steps + mostSteps;
  let isSettled = false;
  const settle = () => void (isSettled = true);
  work.then(settle, settle);
  for (;;) {
    await promisesSettled(world.steps);
    if (isSettled) return await work;
    if (world.steps >= last) throw new Error(`no end after ${mostSteps} steps`);
    if (!world.step()) throw new Error('stuck: nothing is left that could happen');
  }
}

/** After so many steps the event loop runs once, for other code in this process. */
const turnEvery = 1_000;

/**
 * Node runs all promise reactions before the callbacks of `nextTick`, so none is left then. A turn of the event loop would show the same, at
 * many times the cost.
 */
const promisesSettled = (steps: number) => new Promise<void>((resolve) => void (steps % turnEvery === 0 ? setImmediate(resolve) : process.nextTick(resolve)));

export class SimulationError extends Error {
  readonly seed: number;
  constructor(world: SimulatedWorld, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`seed ${world.seed}, ${world.clock.monotonic()} ms, step ${world.steps}: ${why}`, { cause });
    this.name = 'SimulationError';
    this.seed = world.seed;
  }
}
