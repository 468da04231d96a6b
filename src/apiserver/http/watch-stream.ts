import type { Status } from '../../api/status.ts';
import type { Cancel, Log, Timers } from '../../world/world.ts';
import type { OpenWatch, WatchEvent, WatchSink } from '../api.ts';
import type { FrameEncoder } from '../render/watch-frames.ts';
import type { Output } from '../exchange.ts';
import type { Limits } from '../limits.ts';
import type { RequestMetrics } from '../metrics/request-metrics.ts';

/** So many bytes may lie in the connection's buffer before events wait here. */
const connectionBufferBytes = 256 * 1024;
/** Waiting events are written together, up to so many bytes. */
const batchBytes = 64 * 1024;

export interface WatchStreamOptions {
  readonly output: Output;
  readonly frames: FrameEncoder;
  readonly limits: Limits;
  readonly timers: Timers;
  readonly metrics: RequestMetrics;
  readonly log: Log;
}

/**
 * Sends the events of one watch to its client.
 *
 * Events wait here while the client is slower than they come. The initial state may be of any size; it waits
 * as references and is encoded as the client reads. Later events are bounded in bytes, and a client that reads nothing
 * for a while, or falls too far behind, is disconnected: it will list again.
 */
export class WatchStream implements WatchSink {
  readonly #options: WatchStreamOptions;
  #watch: OpenWatch | undefined;
  /** Events of the initial state, and frames of later events. */
  #waiting: (WatchEvent | Uint8Array)[] = [];
  /** How many of those waiting are written already. */
  #written = 0;
  /** Of the frames alone. */
  #waitingBytes = 0;
  #starting = true;
  #awaitingDrain = false;
  #stall: Cancel | undefined;
  #ending: { readonly status: Status | undefined } | undefined;
  #over = false;

  constructor(options: WatchStreamOptions) {
    this.#options = options;
  }

  start(start: (sink: WatchSink) => OpenWatch): void {
    const watch = start(this);
    this.#starting = false;
    if (this.#over) watch.stop();
    else this.#watch = watch;
  }

  events(batch: readonly WatchEvent[]): void {
    if (this.#over || this.#ending !== undefined) return;
    this.#options.metrics.watchEvents.add(batch.length);
    const only = batch.length === 1 ? batch[0] : undefined;
    this.#guarded(() => {
      if (only !== undefined && this.#idle()) this.#options.output.write(this.#options.frames.frame(only));
      else this.#queue(batch);
    });
  }

  end(status: Status | undefined): void {
    if (this.#over || this.#ending !== undefined) return;
    this.#ending = { status };
    this.#guarded(() => this.#pump());
  }

  /** Nothing is written any more. */
  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stall?.();
    this.#waiting = [];
    this.#watch?.stop();
  }

  /** An event that cannot be encoded ends this watch alone: the caller goes on with other watches. */
  #guarded(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#options.log.error('a watch could not be written', { cause: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      this.close();
      this.#options.output.abort();
    }
  }

  #idle(): boolean {
    return this.#waiting.length === 0 && this.#options.output.buffered() < connectionBufferBytes;
  }

  #queue(batch: readonly WatchEvent[]): void {
    for (const event of batch) {
      if (this.#starting) this.#waiting.push(event);
      else {
        const frame = this.#options.frames.frame(event);
        this.#waiting.push(frame);
        this.#waitingBytes += frame.length;
      }
    }
    if (this.#waitingBytes > this.#options.limits.watchBufferBytes) this.#cutOff();
    else this.#pump();
  }

  #pump(): void {
    const { output } = this.#options;
    while (!this.#over && this.#written < this.#waiting.length && output.buffered() < connectionBufferBytes) output.write(this.#nextFrames());
    if (this.#over) return;
    this.#waiting.splice(0, this.#written);
    this.#written = 0;
    if (this.#waiting.length > 0) this.#awaitDrain();
    else if (this.#ending !== undefined) this.#finish(this.#ending.status);
  }

  /** Up to `batchBytes` of the waiting events. */
  #nextFrames(): Uint8Array {
    const taken: Uint8Array[] = [];
    let bytes = 0;
    while (bytes < batchBytes) {
      const next = this.#waiting[this.#written];
      if (next === undefined) break;
      const frame = next instanceof Uint8Array ? next : this.#options.frames.frame(next);
      if (next instanceof Uint8Array) this.#waitingBytes -= frame.length;
      taken.push(frame);
      bytes += frame.length;
      this.#written += 1;
    }
    return taken.length === 1 && taken[0] !== undefined ? taken[0] : Buffer.concat(taken, bytes);
  }

  #awaitDrain(): void {
    if (this.#awaitingDrain) return;
    this.#awaitingDrain = true;
    this.#stall = this.#options.timers.after(this.#options.limits.stalledMs, () => this.#cutOff());
    this.#options.output.onceDrained(() => {
      this.#awaitingDrain = false;
      this.#stall?.();
      this.#guarded(() => this.#pump());
    });
  }

  #finish(status: Status | undefined): void {
    const { output, frames } = this.#options;
    if (status !== undefined) output.write(frames.errorFrame(status));
    this.close();
    output.end();
  }

  #cutOff(): void {
    if (this.#over) return;
    this.#options.metrics.watchesCutOff.add(1);
    this.close();
    this.#options.output.abort();
  }
}
