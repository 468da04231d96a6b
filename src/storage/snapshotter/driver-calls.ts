import type { VolumeSnapshotContent } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { volumeSnapshotContentKind } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { delayBefore } from '../../api/volumes/intent.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Client } from '../../client/client.ts';
import { confirmCurrent } from '../../client/controller/confirm.ts';
import type { Outcome } from '../../client/controller/loop.ts';
import type { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import { type CreateSnapshotRequest, type DriverAnswer, type DriverSnapshot, failed, isFinal, type SnapshotReference } from '../../drivers/contract.ts';
import type { Clock } from '../../world/world.ts';
import type { CheckSnapshot, DeleteSnapshot, SnapshotAttempt, TakeSnapshot } from './actions.ts';
import { contentStatusAfter, withError, withoutSnapshot } from './edits.ts';
import { messages } from './messages.ts';

/** The drivers in this process. No call rejects, and each may be made again. */
export interface SnapshottingDrivers {
  createSnapshot(driver: string, request: CreateSnapshotRequest): Promise<DriverAnswer<DriverSnapshot>>;
  deleteSnapshot(driver: string, request: SnapshotReference): Promise<DriverAnswer<undefined>>;
  /** Undefined: the driver cannot tell. */
  getSnapshot(driver: string, request: SnapshotReference): Promise<DriverAnswer<DriverSnapshot | undefined>>;
}

export interface CallContext {
  readonly client: Client;
  readonly writer: ObjectWriter;
  readonly events: RecordedEvents;
  readonly clock: Clock;
  readonly attempts: SnapshotAttempts;
}

/** How often a driver was asked in vain, by the uid of the content. In memory only: after a restart it is asked at once. */
export class SnapshotAttempts {
  readonly #attempts = new Map<string, SnapshotAttempt>();
  readonly #retry: (object: KubeObject) => void;

  constructor(retry: (object: KubeObject) => void) {
    this.#retry = retry;
  }

  get({ metadata }: KubeObject): SnapshotAttempt | undefined {
    return this.#attempts.get(metadata.uid ?? '');
  }

  forget({ metadata }: KubeObject): void {
    this.#attempts.delete(metadata.uid ?? '');
  }

  /** The next call does not wait. */
  endBackoff(object: KubeObject): void {
    if (this.get(object)?.settled === true) this.#attempts.set(object.metadata.uid ?? '', { count: 0, notBefore: 0, settled: true });
    else this.forget(object);
  }

  /** A call is about to be made: whatever was certain before it is no longer so. */
  begin(object: KubeObject): void {
    const attempt = this.get(object);
    if (attempt !== undefined) this.#attempts.set(object.metadata.uid ?? '', { ...attempt, settled: false });
  }

  /** The next call waits: longer each time. */
  again(object: KubeObject, now: number, settled = false): void {
    const count = (this.get(object)?.count ?? 0) + 1;
    this.#attempts.set(object.metadata.uid ?? '', { count, notBefore: now + delayBefore(count), settled });
    // The answer may have changed no object.
    this.#retry(object);
  }
}

/** Calls of the drivers, and what is written down of their answers. */
export class SnapshotCalls {
  readonly #context: CallContext;
  readonly #drivers: SnapshottingDrivers;

  constructor(context: CallContext, drivers: SnapshottingDrivers) {
    this.#context = context;
    this.#drivers = drivers;
  }

  /** The server is asked once more: the content may be deleted by now, and a deposed leader must not take a snapshot that was deleted long ago. */
  async take({ content, request, isFirst }: TakeSnapshot): Promise<Outcome> {
    // The annotation that was written just now has confirmed it.
    const current = isFirst ? 'done' : await confirmCurrent(this.#context.client, volumeSnapshotContentKind, content);
    if (current !== 'done') return current;
    this.#context.attempts.begin(content);
    const answer = checked(content, request, await this.#drivers.createSnapshot(content.spec.driver, request));
    if (answer.ok) return this.#answered(content, answer.value);
    const why = messages.notTaken(request.sourceHandle, messages.rpc(answer.code, answer.message));
    // A refusal tells nothing of an earlier call with an unknown outcome: that one may have taken the snapshot.
    const settled = isFirst && isFinal(answer);
    return this.#failed(content, { reason: 'SnapshotCreationFailed', message: messages.creationFailed(why), settled });
  }

  async check({ content, request }: CheckSnapshot): Promise<Outcome> {
    const answer = await this.#drivers.getSnapshot(content.spec.driver, request);
    const now = this.#context.clock.now();
    // As csi-snapshotter: what cannot be asked about is ready.
    const unknown: DriverSnapshot = { handle: request.handle, sourceHandle: '', creationTime: 0, readyToUse: true, sizeBytes: 0 };
    if (answer.ok) return this.#answered(content, { ...(answer.value ?? unknown), handle: request.handle, creationTime: answer.value?.creationTime ?? now });
    const why = messages.notListed(content.metadata.name ?? '', messages.rpc(answer.code, answer.message));
    return this.#failed(content, { reason: 'SnapshotContentCheckandUpdateFailed', message: messages.checkFailed(why), settled: false });
  }

  async delete({ content, request }: DeleteSnapshot): Promise<Outcome> {
    const { client, writer, events, clock, attempts } = this.#context;
    const current = await confirmCurrent(client, volumeSnapshotContentKind, content);
    if (current !== 'done') return current;
    const answer = await this.#drivers.deleteSnapshot(content.spec.driver, request);
    if (answer.ok) {
      attempts.forget(content);
      return writer.perform({ do: 'updateStatus', object: withoutSnapshot(content), from: content });
    }
    const message = messages.deleteFailed(messages.rpc(answer.code, answer.message));
    events.record({ about: content, type: 'Warning', reason: 'SnapshotDeleteError', message });
    attempts.again(content, clock.now());
    return 'done';
  }

  async #answered(content: VolumeSnapshotContent, answer: DriverSnapshot): Promise<Outcome> {
    const { writer, clock, attempts } = this.#context;
    const status = contentStatusAfter(content.status, answer, clock.now());
    if (answer.readyToUse) attempts.forget(content);
    else attempts.again(content, clock.now());
    const answered: VolumeSnapshotContent = { ...content, status };
    return writer.perform({ do: 'updateStatus', object: answered, from: content });
  }

  async #failed(content: VolumeSnapshotContent, { reason, message, settled }: { reason: string; message: string; settled: boolean }): Promise<Outcome> {
    const { writer, events, clock, attempts } = this.#context;
    attempts.again(content, clock.now(), settled);
    const failing = withError(content, message, { now: clock.now() });
    if (failing === content) return 'done';
    const written = await writer.perform({ do: 'updateStatus', object: failing, from: content });
    if (written === 'done') events.record({ about: content, type: 'Warning', reason, message });
    return written;
  }
}

/** An answer about another volume or another snapshot is none: what the driver did is unknown. */
function checked(
  { status }: VolumeSnapshotContent,
  { sourceHandle }: CreateSnapshotRequest,
  answer: DriverAnswer<DriverSnapshot>,
): DriverAnswer<DriverSnapshot> {
  if (!answer.ok) return answer;
  const { handle, sourceHandle: answered } = answer.value;
  if (handle === '') return failed('Unknown', messages.noHandle);
  if (answered !== sourceHandle) return failed('Unknown', messages.otherSource(sourceHandle, answered));
  const known = status?.snapshotHandle;
  return known === undefined || known === handle ? answer : failed('Unknown', messages.otherHandle(known, handle));
}
