import type { Cancel, World } from '../../world/world.ts';

/** Where lines of the audit log go. */
export interface AuditBackend {
  /** All of it or nothing. */
  write(lines: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export interface AuditLogOptions {
  readonly destination: AuditBackend;
  readonly world: Pick<World, 'timers' | 'log'>;
  /** Called with the number of events that were written, or lost. */
  readonly written: (events: number) => void;
  readonly dropped: (events: number) => void;
}

/** Kubernetes: 10,000 events. */
const maxWaiting = 10_000;
const maxWaitingCharacters = 64 * 1024 * 1024;
const batchCharacters = 1024 * 1024;
/** After a failure, until the next attempt. */
const retryMs = 1_000;
/** For the rest when the server stops. */
const stopMs = 5_000;

/**
 * The audit log. Requests do not wait for it: lines are written later and retried, and those beyond the limits are dropped, counted and logged.
 */
export class AuditLog {
  readonly #options: AuditLogOptions;
  #waiting: string[] = [];
  #characters = 0;
  #state: 'idle' | 'writing' | 'stopped' = 'idle';
  /** Logged once, not for every line. */
  #lastError: string | undefined;
  /** Since the last log message. */
  #lost = 0;
  #retryNow: (() => void) | undefined;
  #whenIdle: (() => void)[] = [];

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  readonly write = (line: string): void => {
    if (this.#state === 'stopped' || this.#waiting.length >= maxWaiting || this.#characters + line.length > maxWaitingCharacters) {
      this.#drop(1);
      return;
    }
    this.#waiting.push(line);
    this.#characters += line.length;
    if (this.#state !== 'idle') return;
    this.#state = 'writing';
    // All lines of this turn of the event loop go into one write.
    this.#options.world.timers.soon(() => void this.#writeAll());
  };

  /** Writes the rest, for up to `stopMs`; what is left then is dropped and logged. */
  async stop(): Promise<void> {
    const { world, destination } = this.#options;
    let cancel: Cancel = () => undefined;
    if (this.#state === 'writing') {
      const timeout = new Promise<void>((resolve) => {
        cancel = world.timers.after(stopMs, resolve);
      });
      await Promise.race([new Promise<void>((resolve) => this.#whenIdle.push(resolve)), timeout]);
    }
    cancel();
    this.#state = 'stopped';
    this.#retryNow?.();
    if (this.#waiting.length > 0) this.#drop(this.#waiting.length);
    this.#waiting = [];
    this.#logLoss();
    await destination.close().catch((error: unknown) => world.log.warn('cannot close the audit log', { error: String(error) }));
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      const written = await this.#attempt(Buffer.from(batch.join('')));
      if (this.#state === 'stopped') return;
      if (!written) {
        await this.#pause();
        continue;
      }
      // Not before: until now these lines counted.
      this.#waiting.splice(0, batch.length);
      for (const line of batch) this.#characters -= line.length;
      this.#options.written(batch.length);
      this.#logLoss();
    }
    this.#state = 'idle';
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #nextBatch(): readonly string[] {
    let characters = 0;
    let count = 0;
    while (count < this.#waiting.length && (count === 0 || characters < batchCharacters)) {
      characters += this.#waiting[count]?.length ?? 0;
      count += 1;
    }
    return this.#waiting.slice(0, count);
  }

  async #attempt(lines: Uint8Array): Promise<boolean> {
    const { destination, world } = this.#options;
    try {
      await destination.write(lines);
      if (this.#lastError !== undefined) world.log.info('the audit log is written again');
      this.#lastError = undefined;
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== this.#lastError) world.log.error('cannot write the audit log, will retry', { error: message });
      this.#lastError = message;
      return false;
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.world.timers.after(retryMs, resolve);
      this.#retryNow = () => {
        cancel();
        resolve();
      };
    });
  }

  #drop(events: number): void {
    if (this.#lost === 0) this.#options.world.log.error('audit events are dropped: too many wait to be written');
    this.#lost += events;
    this.#options.dropped(events);
  }

  #logLoss(): void {
    if (this.#lost > 0) this.#options.world.log.error('audit events were lost', { events: this.#lost });
    this.#lost = 0;
  }
}
