import { StoreError } from '../contract.ts';
import { ByteWriter } from './bytes.ts';
import type { CommitLog } from './commit-log.ts';
import { beginFrame, endFrame } from './format.ts';

/** Somebody who waits until what they wrote, or what they saw, is durable. */
export interface CommitWaiter {
  durable(): void;
  rejected(error: StoreError): void;
}

/** What goes to disk with one append and one sync. */
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
  /** Calls back once what arrived together with the first write has arrived. */
  readonly soon: (callback: () => void) => void;
  /** Everything that was accepted but not yet durable is refused: the state is again what is durable. */
  readonly onRefused: (error: StoreError) => void;
}

/**
 * Writes that arrive while one batch is being synced make up the next one. Thus the disk is never asked to sync less
 * than it could, and nobody waits for more than the sync under way and their own.
 *
 * The queue is as long as there are callers who wait; it is for them to limit their number.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #filling: Batch;
  /** Full batches that wait for their turn. */
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

  /** Waits until `revision`, which may be on its way, is durable. */
  whenDurable(waiting: CommitWaiter, revision: number): void {
    const ahead = [this.#flying, ...this.#full].find((batch) => batch !== undefined && revision <= batch.lastRevision);
    (ahead ?? this.#filling).waiting.push(waiting);
    this.#schedule();
  }

  /** Resolves when nothing is under way. */
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
      // The next batch is on its way to the disk while this one is published.
      this.#flying = undefined;
      flight = this.#take();
      for (const waiting of batch.waiting) waiting.durable();
      this.#spare = batch.writer;
      flight ??= this.#take();
    }
  }

  /** The batch whose turn it is; undefined if nobody waits. */
  #next(): Batch | undefined {
    return this.#full[0] ?? (this.#filling.waiting.length > 0 ? this.#filling : undefined);
  }

  /** Sends the next batch on its way. */
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
      return undefined;
    } catch (error) {
      return error instanceof StoreError ? error : new StoreError('failed', 'the log failed', { cause: error });
    }
  }

  /** What came after was checked against what has now failed: it fails as well. */
  #refuse(batch: Batch, error: StoreError): void {
    const waiting = [batch, ...this.#full.splice(0), this.#filling].flatMap((refused) => refused.waiting);
    this.#flying = undefined;
    this.#options.onRefused(error);
    this.#filling = newBatch(this.#options.revision(), new ByteWriter(WRITER_BYTES));
    for (const one of waiting) one.rejected(error);
  }

  /** Two writers take turns; one that a huge write has blown up is not kept. */
  #spareWriter(): ByteWriter {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare === undefined || spare.capacity > WRITER_BYTES_KEPT) return new ByteWriter(WRITER_BYTES);
    spare.clear();
    return spare;
  }
}

/** A batch that has this much is sent as it is. */
const BATCH_BYTES = 16 << 20;
const WRITER_BYTES = 64 << 10;
const WRITER_BYTES_KEPT = 4 << 20;

const newBatch = (lastRevision: number, writer: ByteWriter): Batch => ({ waiting: [], writer, records: 0, lastRevision });
