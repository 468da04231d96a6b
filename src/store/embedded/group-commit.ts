import { StoreError } from '../contract.ts';
import { ByteWriter } from './bytes.ts';
import type { CommitLog } from './commit-log.ts';
import { beginFrame, endFrame } from './format.ts';

/** A caller that waits until its write, or what it read, is durable. */
export interface CommitWaiter {
  durable(): void;
  rejected(error: StoreError): void;
}

/** Records that one append and one sync write to disk. */
interface Batch {
  readonly waiting: CommitWaiter[];
  /** A frame whose payload grows; without records nothing needs to be written. */
  readonly writer: ByteWriter;
  records: number;
  lastRevision: number;
}

interface GroupCommitOptions {
  readonly log: CommitLog;
  /** The newest revision that is durable and visible. */
  readonly revision: () => number;
  /** Calls back after the current task: writes that arrive together share a batch. */
  readonly soon: (callback: () => void) => void;
  /** A batch is durable. */
  readonly onDurable: () => void;
  /** All writes that are not durable yet are rejected: the state is the durable one again. */
  readonly onRefused: (error: StoreError) => void;
}

/**
 * Writes that arrive during the sync of one batch form the next one. So a sync covers as many writes
 * as possible, and a write waits at most for the sync in progress and its own.
 *
 * The queue is as long as there are waiting callers; these limit their own number.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #filling: Batch;
  /** Full batches that are not written yet. */
  readonly #full: Batch[] = [];
  #flying: Batch | undefined;
  #spare: ByteWriter | undefined;
  #running: Promise<void> | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#filling = newBatch(options.revision(), new ByteWriter(WRITER_BYTES));
  }

  /** Adds records to the next batch. `revision` is the newest revision with them. */
  write(waiting: CommitWaiter, revision: number, encode: (writer: ByteWriter) => void): void {
    const batch = this.#filling;
    if (batch.records === 0) {
      beginFrame(batch.writer);
      batch.writer.double(batch.lastRevision + 1);
    }
    encode(batch.writer);
    batch.records++;
    batch.lastRevision = revision;
    batch.waiting.push(waiting);
    if (batch.writer.length > BATCH_BYTES) {
      this.#full.push(batch);
      this.#filling = newBatch(batch.lastRevision, new ByteWriter(WRITER_BYTES));
    }
    this.#schedule();
  }

  /** Waits until `revision`, which may be in a batch, is durable. */
  whenDurable(waiting: CommitWaiter, revision: number): void {
    const ahead = [this.#flying, ...this.#full].find((batch) => batch !== undefined && revision <= batch.lastRevision);
    (ahead ?? this.#filling).waiting.push(waiting);
    this.#schedule();
  }

  /** Resolves when no write is in progress. */
  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  #schedule(): void {
    this.#running ??= new Promise<void>((resolve) => this.#options.soon(resolve))
      .then(() => this.#run())
      .then(() => {
        this.#running = undefined;
        if (this.#next() !== undefined) this.#schedule();
      });
  }

  async #run(): Promise<void> {
    let flight = this.#take();
    while (flight !== undefined) {
      const { batch, written } = flight;
      const error = await written;
      if (error !== undefined) {
        this.#refuse(batch, error);
        break;
      }
      // The next batch is written while this one is published.
      this.#flying = undefined;
      flight = this.#take();
      for (const waiting of batch.waiting) waiting.durable();
      this.#spare = batch.writer;
      flight ??= this.#take();
    }
  }

  /** The next batch to write; undefined if no caller waits. */
  #next(): Batch | undefined {
    return this.#full[0] ?? (this.#filling.waiting.length > 0 ? this.#filling : undefined);
  }

  /** Starts to write the next batch. */
  #take(): { batch: Batch; written: Promise<StoreError | undefined> } | undefined {
    const batch = this.#next();
    if (batch === undefined) return undefined;
    if (batch === this.#filling) this.#filling = newBatch(batch.lastRevision, this.#spareWriter());
    else this.#full.shift();
    this.#flying = batch;
    return { batch, written: this.#write(batch) };
  }

  async #write(batch: Batch): Promise<StoreError | undefined> {
    if (batch.records === 0) return undefined;
    try {
      await this.#options.log.append(endFrame(batch.writer), batch.lastRevision);
      this.#options.onDurable();
      return undefined;
    } catch (error) {
      return error instanceof StoreError ? error : new StoreError('failed', 'the log failed', { cause: error });
    }
  }

  /** Later writes were checked against the failed ones: they fail as well. */
  #refuse(batch: Batch, error: StoreError): void {
    const waiting = [batch, ...this.#full.splice(0), this.#filling].flatMap((refused) => refused.waiting);
    this.#flying = undefined;
    this.#options.onRefused(error);
    this.#filling = newBatch(this.#options.revision(), new ByteWriter(WRITER_BYTES));
    for (const one of waiting) one.rejected(error);
  }

  /** Two writers alternate; one that a huge write has enlarged is not kept. */
  #spareWriter(): ByteWriter {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare === undefined || spare.capacity > WRITER_BYTES_KEPT) return new ByteWriter(WRITER_BYTES);
    spare.clear();
    return spare;
  }
}

/** The size at which a batch is full. */
const BATCH_BYTES = 16 << 20;
const WRITER_BYTES = 64 << 10;
const WRITER_BYTES_KEPT = 4 << 20;

const newBatch = (lastRevision: number, writer: ByteWriter): Batch => ({ waiting: [], writer, records: 0, lastRevision });
