/**
 * Everything that is not a function of its arguments comes in through a World: `main/` builds the real one,
 * `sim/` a simulated one on virtual time. Code that has no World parameter is pure.
 */
export interface World {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
}

export interface Clock {
  /** Milliseconds since 1970, for what people read. May jump. */
  now(): number;
  /** Milliseconds since some fixed moment, for measuring and time-outs. Never goes back. */
  monotonic(): number;
}

export interface Timers {
  /** Calls back once, not before `ms` have passed. Never keeps a process alive by itself. */
  after(ms: number, callback: () => void): Cancel;
  /** Calls back as soon as what is running now has finished. Of several callbacks, whether of `soon` or of timers, any may come first. */
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
 * - debug: each step of a reconciliation, for people who follow one object
 * - info: what an operator wants to see once: started, became leader, compacted
 * - warn: something failed and is being retried, or an input was refused for a reason the operator can change
 * - error: an invariant is broken or data may be lost; somebody has to look
 */
export interface Log {
  /** Whether anybody reads debug lines: for what is costly to put together. */
  readonly debugs: boolean;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with fields added to every line. */
  with(fields: LogFields): Log;
}

export type LogFields = Readonly<Record<string, unknown>>;
