/**
 * Time, randomness and logging come in through a World: `host/` has the real one, `sim/` a simulated one on virtual time. Code without a
 * World parameter is pure.
 */
export interface World {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
}

export interface Clock {
  /** Milliseconds since 1970, for timestamps. May jump. */
  now(): number;
  /** Milliseconds since a fixed moment, for durations and timeouts. Never decreases. */
  monotonic(): number;
}

export interface Timers {
  /** Calls back once, not before `ms` have passed. Never keeps a process alive by itself. */
  after(ms: number, callback: () => void): Cancel;
  /** Calls back after the current task. The order of several callbacks, of `soon` or of timers, is not defined. */
  soon(callback: () => void): void;
}

export type Cancel = () => void;

export interface Random {
  /** At least 0, below 1. */
  float(): number;
  /** A random (version 4) UUID. */
  uuid(): string;
}

/**
 * Constant message plus fields.
 * - debug: each step of a reconciliation, to follow one object
 * - info: an operator wants to see it once: started, became leader, compacted
 * - warn: an operation failed and is retried, or an input was refused for a reason that an operator can change
 * - error: an invariant is broken or data may be lost; an operator has to act
 */
export interface Log {
  /** Whether debug lines are written; check it before building costly fields. */
  readonly debugs: boolean;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with fields added to every line. */
  with(fields: LogFields): Log;
}

export type LogFields = Readonly<Record<string, unknown>>;
