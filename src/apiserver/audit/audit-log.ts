import type { Cancel, World } from '../../world/world.ts';

/** Where lines of the audit log end up. */
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

/** What waits to be written at most. Kubernetes: 10,000 events. */
const maxWaiting = 10_000;
const maxWaitingCharacters = 64 * 1024 * 1024;
/** So much is written at once. */
const batchCharacters = 1024 * 1024;
/** After a failure, until the next attempt. */
const retryMs = 1_000;
/** For what is still to be written when the server stops. */
const stopMs = 5_000;

/**
 * The audit log: nobody waits for it. Lines are written behind the requests that they tell of; what cannot be written is kept and tried
 * again, and what there is no room to keep is dropped, counted and complained about.
 */
export class AuditLog {
  readonly #options: AuditLogOptions;
  #waiting: string[] = [];
  #characters = 0;
  #state: 'idle' | 'writing' | 'stopped' = 'idle';
  /** What went wrong last, so that it is said once and not for every line. */
  #lastError: string | undefined;
  /** Since the last complaint. */
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
    // Whatever else happens in this turn goes into the same write.
    this.#options.world.timers.soon(() => void this.#writeAll());
  };

  /** Writes what is left, for a while; what cannot be written by then is lost, and said to be. */
  async stop(): Promise<void> {
    const { world, destination } = this.#options;
    let cancel: Cancel = () => undefined;
    if (this.#state === 'writing') {
      const patience = new Promise<void>((resolve) => {
        cancel = world.timers.after(stopMs, resolve);
      });
      await Promise.race([new Promise<void>((resolve) => this.#whenIdle.push(resolve)), patience]);
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
      // Not before: until now these lines took room.
      this.#waiting.splice(0, batch.length);
      for (const line of batch) this.#characters -= line.length;
      this.#options.written(batch.length);
      this.#logLoss();
    }
    this.#state = 'idle';
    for (const tell of this.#whenIdle.splice(0)) tell();
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
      const trouble = error instanceof Error ? error.message : String(error);
      if (trouble !== this.#lastError) world.log.error('the audit log cannot be written; the server goes on and tries again', { error: trouble });
      this.#lastError = trouble;
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
    if (this.#lost === 0) this.#options.world.log.error('audit events are lost: there is no room to keep what is not written yet');
    this.#lost += events;
    this.#options.dropped(events);
  }

  #logLoss(): void {
    if (this.#lost > 0) this.#options.world.log.error('audit events were lost', { events: this.#lost });
    this.#lost = 0;
  }
}
