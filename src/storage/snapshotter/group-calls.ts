import { timestamp } from '../../api/kinds/timestamps.ts';
import {
  type VolumeGroupSnapshotContent,
  volumeGroupSnapshotContentKind,
  type VolumeGroupSnapshotContentStatus,
  type VolumeSnapshotInfo,
} from '../../api/kinds/snapshot/volume-group-snapshot.ts';
import { confirmCurrent } from '../../client/controller/confirm.ts';
import type { Outcome } from '../../client/controller/loop.ts';
import {
  type CreateVolumeGroupSnapshotRequest,
  type DriverAnswer,
  type DriverGroupSnapshot,
  type DriverSnapshot,
  failed,
  type GroupSnapshotReference,
  isFinal,
} from '../../drivers/contract.ts';
import type { CheckGroupSnapshot, DeleteGroupSnapshot, TakeGroupSnapshot } from './actions.ts';
import type { CallContext } from './driver-calls.ts';
import { withError } from './edits.ts';
import { groupMessages } from './group-messages.ts';
import { messages } from './messages.ts';

/** The drivers in this process. No call rejects, and each may be made again. */
export interface GroupSnapshottingDrivers {
  createGroupSnapshot(driver: string, request: CreateVolumeGroupSnapshotRequest): Promise<DriverAnswer<DriverGroupSnapshot>>;
  deleteGroupSnapshot(driver: string, request: GroupSnapshotReference): Promise<DriverAnswer<undefined>>;
  getGroupSnapshot(driver: string, request: GroupSnapshotReference): Promise<DriverAnswer<DriverGroupSnapshot>>;
}

/** Calls of the drivers about groups, and what is written down of their answers. */
export class GroupCalls {
  readonly #context: CallContext;
  readonly #drivers: GroupSnapshottingDrivers;

  constructor(context: CallContext, drivers: GroupSnapshottingDrivers) {
    this.#context = context;
    this.#drivers = drivers;
  }

  async take({ content, request, isFirst }: TakeGroupSnapshot): Promise<Outcome> {
    const current = isFirst ? 'done' : await confirmCurrent(this.#context.client, volumeGroupSnapshotContentKind, content);
    if (current !== 'done') return current;
    this.#context.attempts.begin(content);
    const answer = checked(request, await this.#drivers.createGroupSnapshot(content.spec.driver, request));
    if (answer.ok) return this.#answered(content, answer.value);
    const why = groupMessages.notTaken(request.sourceHandles, messages.rpc(answer.code, answer.message));
    const settled = isFirst && isFinal(answer);
    return this.#failed(content, { reason: 'GroupSnapshotCreationFailed', message: groupMessages.creationFailed(why), settled });
  }

  async check({ content, request }: CheckGroupSnapshot): Promise<Outcome> {
    const answer = await this.#drivers.getGroupSnapshot(content.spec.driver, request);
    if (answer.ok) return this.#answered(content, answer.value);
    const why = messages.notListed(content.metadata.name ?? '', messages.rpc(answer.code, answer.message));
    return this.#failed(content, { reason: 'GroupSnapshotContentCheckandUpdateFailed', message: groupMessages.checkFailed(why), settled: false });
  }

  async delete({ content, request }: DeleteGroupSnapshot): Promise<Outcome> {
    const { client, writer, events, clock, attempts } = this.#context;
    const current = await confirmCurrent(client, volumeGroupSnapshotContentKind, content);
    if (current !== 'done') return current;
    const answer = await this.#drivers.deleteGroupSnapshot(content.spec.driver, request);
    if (!answer.ok) {
      const message = groupMessages.deleteFailed(messages.rpc(answer.code, answer.message));
      events.record({ about: content, type: 'Warning', reason: 'GroupSnapshotDeleteError', message });
      attempts.again(content, clock.now());
      return 'done';
    }
    attempts.forget(content);
    const cleared: VolumeGroupSnapshotContent = { ...content, status: {} };
    return writer.perform({ do: 'updateStatus', object: cleared, from: content });
  }

  async #answered(content: VolumeGroupSnapshotContent, answer: DriverGroupSnapshot): Promise<Outcome> {
    const { writer, clock, attempts } = this.#context;
    const now = clock.now();
    if (answer.readyToUse) attempts.forget(content);
    else attempts.again(content, now);
    const { error, ...known } = content.status ?? {};
    const status: VolumeGroupSnapshotContentStatus = {
      ...known,
      volumeGroupSnapshotHandle: known.volumeGroupSnapshotHandle ?? answer.handle,
      creationTime: known.creationTime ?? timestamp(answer.creationTime > 0 ? answer.creationTime : now),
      readyToUse: answer.readyToUse,
      volumeSnapshotInfoList: answer.snapshots.map(infoOf),
      ...(error === undefined || answer.readyToUse ? {} : { error }),
    };
    const answered: VolumeGroupSnapshotContent = { ...content, status };
    return writer.perform({ do: 'updateStatus', object: answered, from: content });
  }

  async #failed(content: VolumeGroupSnapshotContent, { reason, message, settled }: { reason: string; message: string; settled: boolean }): Promise<Outcome> {
    const { writer, events, clock, attempts } = this.#context;
    attempts.again(content, clock.now(), settled);
    const failing = withError(content, message, { now: clock.now() });
    if (failing === content) return 'done';
    const written = await writer.perform({ do: 'updateStatus', object: failing, from: content });
    if (written === 'done') events.record({ about: content, type: 'Warning', reason, message });
    return written;
  }
}

const infoOf = ({ handle, sourceHandle, creationTime, readyToUse, sizeBytes }: DriverSnapshot): VolumeSnapshotInfo => ({
  volumeHandle: sourceHandle,
  snapshotHandle: handle,
  creationTime: creationTime * 1_000_000,
  readyToUse,
  restoreSize: sizeBytes,
});

/** One snapshot of each volume, and of no other; else it is unknown what the driver did. */
function checked({ sourceHandles }: CreateVolumeGroupSnapshotRequest, answer: DriverAnswer<DriverGroupSnapshot>): DriverAnswer<DriverGroupSnapshot> {
  if (!answer.ok) return answer;
  const { handle, snapshots } = answer.value;
  if (handle === '' || snapshots.some((one) => one.handle === '')) return failed('Unknown', messages.noHandle);
  const answered = snapshots.map(({ sourceHandle }) => sourceHandle).sort();
  const wanted = sourceHandles.toSorted();
  const isSame = answered.length === wanted.length && answered.every((source, i) => source === wanted[i]);
  return isSame ? answer : failed('Unknown', groupMessages.otherSources);
}
