import { type DriverAnswer, type DriverFailure, failed as failure, type NodeDriver } from '../../drivers/contract.ts';
import type { CsiSource } from '../../api/volumes/csi-translation.ts';
import type { Client } from '../../client/client.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { HostFiles, Mounts } from '../../world/mounts.ts';
import type { Clock, Log } from '../../world/world.ts';
import { parseUniqueName } from '../../storage/volumes/attachable.ts';
import { csiPlugin, noPlugin } from '../volumes/volume-plugins.ts';
import { isForOnePod, onePodOnly, mountTerms } from '../volumes/volume-state.ts';
import type { VolumeOperation } from './actions.ts';
import type { ActualState } from './actual-state.ts';
import { claimChanged, expandOnNode } from './node-expansion.ts';
import type { Journal, PublishedRecord, StagedRecord } from './journal.ts';
import { unmountSubPaths } from './sub-paths.ts';

export interface OperationsOptions {
  readonly host: { readonly mounts: Mounts; readonly files: HostFiles };
  readonly root: string;
  readonly journal: Journal;
  readonly actual: ActualState;
  /** Undefined: there is none of that name. */
  readonly driver: (name: string) => NodeDriver | undefined;
  /** The node's own. */
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The node lists the volume in volumesInUse, and will continue to. */
  readonly mayMount: (attached: string) => boolean;
  /** `waiting`: the pods that found the volume busy. */
  readonly onEnd: (operation: VolumeOperation, waiting: Iterable<string>) => void;
}

/** A failed operation is retried after half a second, then after twice as long each time. */
interface Failure {
  readonly driver: string;
  readonly waitMs: number;
  readonly notBefore: number;
}

const firstWaitMs = 500;
const longestWaitMs = 122_000;
/** Of one driver: another one may hang, and all its calls with it. */
const maxRunning = 64;

/**
 * The operation executor: mounts and unmounts beside the control loop, for each volume one operation at a time. A volume is in the journal
 * before it is mounted, and until it is unmounted: the journal leads to everything that a crash leaves half done.
 */
export class Operations {
  readonly #options: OperationsOptions;
  /** By lock: uids of the pods that wait for it. */
  readonly #busy = new Map<string, Set<string>>();
  /** By driver: operations that wait. */
  readonly #queues = new Map<string, (() => void)[]>();
  /** By driver. */
  readonly #running = new Map<string, number>();
  readonly #failures = new Map<string, Failure>();
  #stopped = false;
  #whenIdle: (() => void)[] = [];

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** Whether an operation holds the lock. If so, `onEnd` names the pod among those that wait. */
  isBusy(lock: string, uid: string): boolean {
    const waiting = this.#busy.get(lock);
    waiting?.add(uid);
    return waiting !== undefined;
  }

  notBefore(key: string): number | undefined {
    return this.#failures.get(key)?.notBefore;
  }

  /** Failed operations of the driver may be retried at once. */
  retryNow(driver: string): void {
    for (const [key, failed] of this.#failures) if (failed.driver === driver) this.#failures.delete(key);
  }

  /** Does nothing while another operation holds the lock. */
  start(operation: VolumeOperation): void {
    const lock = lockOf(operation);
    if (this.#stopped || this.#busy.has(lock)) return;
    this.#busy.set(lock, new Set());
    const driver = driverNameOf(operation);
    const queue = this.#queues.get(driver) ?? [];
    queue.push(() => void this.#run(operation, lock));
    this.#queues.set(driver, queue);
    this.#next(driver);
  }

  /** Resolves once the running operations have ended. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#queues.clear();
    return this.#running.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  #next(driver: string): void {
    const queue = this.#queues.get(driver) ?? [];
    for (let running = this.#running.get(driver) ?? 0; running < maxRunning; running++) {
      const run = queue.shift();
      if (run === undefined) break;
      this.#running.set(driver, running + 1);
      run();
    }
    if (queue.length === 0) this.#queues.delete(driver);
  }

  #ended(driver: string): void {
    const running = (this.#running.get(driver) ?? 1) - 1;
    if (running === 0) this.#running.delete(driver);
    else this.#running.set(driver, running);
  }

  async #run(operation: VolumeOperation, lock: string): Promise<void> {
    const key = keyOf(operation);
    const answer = await this.#perform(operation).catch((error: unknown) => failure('Unknown', error instanceof Error ? error.message : String(error)));
    if (answer.ok) this.#failures.delete(key);
    else this.#fail(operation, key, answer);
    const waiting = this.#busy.get(lock) ?? [];
    this.#busy.delete(lock);
    const driver = driverNameOf(operation);
    this.#ended(driver);
    this.#options.onEnd(operation, waiting);
    this.#next(driver);
    if (this.#running.size === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #perform(operation: VolumeOperation): Promise<DriverAnswer<unknown>> {
    switch (operation.do) {
      case 'stage':
        return this.#stage(operation);
      case 'publish':
        return this.#publish(operation);
      case 'expand':
        return this.#expand(operation);
      case 'unpublish':
        return this.#unpublish(operation.record);
      case 'unstage':
        return this.#unstage(operation.record);
    }
  }

  async #stage({ pod, volume, attached }: Extract<VolumeOperation, { do: 'stage' }>): Promise<DriverAnswer<unknown>> {
    const { journal, actual, host, log } = this.#options;
    const { stagingPath = '', driver, onNode, uniqueName } = volume;
    const found = this.#driverOf(driver);
    if (!found.ok) return found;
    if (attached !== undefined && !this.#options.mayMount(attached)) return notYet;
    const record: StagedRecord = { type: 'staged', key: stagingPath, driver, name: onNode.name, uniqueName, attached, csi: volume.csi };
    // First: while the journal is written, the pod may go, and the node must not say meanwhile that it does not use the volume.
    actual.expectStaged(record);
    await journal.put(record);
    log.debug('MountVolume.WaitForAttach succeeded for volume', { volume: onNode.name, uniqueName, pod: named(pod) });
    await host.files.makeDirectory(directoryOf(stagingPath), 0o750);
    const answer = (await found.value.nodeStageVolume?.({ volume: onNode, stagingPath, pod })) ?? unable(driver, 'stage');
    if (answer.ok) actual.setStaged(stagingPath);
    if (answer.ok) log.debug('MountVolume.MountDevice succeeded for volume', { volume: onNode.name, uniqueName, pod: named(pod), path: stagingPath });
    return answer;
  }

  async #publish({ pod, volume, attached }: Extract<VolumeOperation, { do: 'publish' }>): Promise<DriverAnswer<unknown>> {
    const { journal, actual, host, log } = this.#options;
    const { driver, onNode, uniqueName, target, stagingPath } = volume;
    const found = this.#driverOf(driver);
    if (!found.ok) return found;
    if (onNode.mountOptions.length > 0 && !found.value.capabilities.mountOptions) return noMountOptions;
    if (attached !== undefined && !this.#options.mayMount(attached)) return notYet;
    const { persistentVolume } = onNode;
    // Since the decision, another pod may have mounted it.
    const isTaken = persistentVolume !== undefined && isForOnePod(persistentVolume) && actual.isMountedElsewhere(volume.claim ?? '', volume.podUid);
    if (isTaken) return failure('Aborted', onePodOnly);
    const record = recordOf(pod, volume, attached);
    actual.expect(record);
    await journal.put(record);
    const known = actual.get(record.key);
    if (known !== undefined) known.stale = false;
    const about = { volume: onNode.name, uniqueName, pod: named(pod), podUID: volume.podUid };
    log.debug('operationExecutor.MountVolume started for volume', about);
    await host.files.makeDirectory(directoryOf(target), 0o750);
    const recordEvent = (reason: string, message: string) => this.#options.recorder.record(pod, { type: 'Warning', reason, message }, this.#options.nodeName);
    const isRepublish = known !== undefined && (known.mounted !== undefined || known.reconstructed);
    const answer = await found.value.nodePublishVolume({ volume: onNode, pod, target, stagingPath, isRepublish, recordEvent });
    if (known === undefined) return answer;
    // The objects that it is made of have changed, and it does not show them yet.
    if (!answer.ok) known.stale = known.mounted !== undefined;
    // A driver that was restarted may not know what it staged before: it is asked to stage the volume again, which changes nothing if it is staged.
    if (!answer.ok && answer.code === 'FailedPrecondition' && stagingPath !== undefined) actual.setStaged(stagingPath, false);
    if (!answer.ok) return answer;
    known.mounted = { hostPath: answer.value.path, mode: onNode.mode, readOnly: onNode.readOnly };
    known.again = answer.value.republishAt;
    known.group = volume.group;
    log.debug(`${onNode.mode === 'Block' ? 'MapVolume.MapPodDevice' : 'MountVolume.SetUp'} succeeded for volume`, about);
    return answer;
  }

  async #expand(operation: Extract<VolumeOperation, { do: 'expand' }>): Promise<DriverAnswer<unknown>> {
    const found = this.#driverOf(operation.volume.driver);
    if (!found.ok) return found;
    return expandOnNode(operation, found.value, { ...this.#options, onRefused: (stagingPath) => this.#options.actual.refuseGrowth(stagingPath) });
  }

  async #unpublish(record: PublishedRecord): Promise<DriverAnswer<unknown>> {
    const { journal, actual, host, root, log } = this.#options;
    const { podUid, target, name, uniqueName, key } = record;
    const found = this.#driverOf(record.driver);
    if (!found.ok) return found;
    log.debug('operationExecutor.UnmountVolume started for volume', { volume: name, uniqueName, pod: record.pod });
    await unmountSubPaths(host, { root, uid: podUid, volume: record.podVolume });
    const known = actual.get(key);
    if (known !== undefined) known.mounted = undefined;
    const answer = await found.value.nodeUnpublishVolume({ target, name, podUid, csi: csiOf(record) });
    if (!answer.ok) return answer;
    await journal.drop(key);
    actual.remove(record);
    log.debug('UnmountVolume.TearDown succeeded for volume', { volume: name, uniqueName, pod: record.pod });
    return answer;
  }

  async #unstage(record: StagedRecord): Promise<DriverAnswer<unknown>> {
    const { journal, actual, log } = this.#options;
    const { key, driver, name, uniqueName } = record;
    const found = this.#driverOf(driver);
    if (!found.ok) return found;
    actual.removeStaged(key);
    actual.expectStaged(record);
    const answer = (await found.value.nodeUnstageVolume?.({ handle: name, stagingPath: key, csi: csiOf(record) })) ?? unable(driver, 'unstage');
    if (!answer.ok) return answer;
    await journal.drop(key);
    actual.removeStaged(key);
    log.debug('UnmountDevice succeeded for volume', { volume: name, uniqueName, path: key });
    return answer;
  }

  #driverOf(name: string): DriverAnswer<NodeDriver> {
    const value = this.#options.driver(name);
    return value === undefined ? failure('FailedPrecondition', noPlugin(name)) : { ok: true, value };
  }

  #fail(operation: VolumeOperation, key: string, answer: DriverFailure): void {
    const { clock, log, recorder, nodeName } = this.#options;
    const waitMs = Math.min(2 * (this.#failures.get(key)?.waitMs ?? firstWaitMs / 2), longestWaitMs);
    this.#failures.set(key, { driver: driverNameOf(operation), waitMs, notBefore: clock.now() + waitMs });
    if (answer === notYet || answer === claimChanged) return;
    if (operation.do === 'unpublish' || operation.do === 'unstage') {
      const what = operation.do === 'unpublish' ? 'UnmountVolume.TearDown failed for volume' : 'UnmountDevice failed for volume';
      log.warn(what, { volume: operation.record.name, uniqueName: operation.record.uniqueName, error: answer.message, retryInMs: waitMs });
      return;
    }
    const { onNode } = operation.volume;
    const { reason, what } = whatFailed(operation, answer);
    const message = `${what} for volume ${JSON.stringify(onNode.name)} : ${answer.message}`;
    log.warn('mounting the volume failed', { volume: onNode.name, pod: named(operation.pod), error: message, retryInMs: waitMs });
    recorder.record(operation.pod, { type: 'Warning', reason, message }, nodeName);
  }
}

/** The kubelet's event names the step that failed. */
function whatFailed(
  operation: Extract<VolumeOperation, { do: 'stage' | 'publish' | 'expand' }>,
  answer: DriverFailure,
): { readonly reason: string; readonly what: string } {
  const { reason, verb, setUp, stage, grow } = mountTerms(operation.volume.onNode.mode === 'Block');
  if (operation.do === 'expand') {
    return operation.mounted ? { reason: 'VolumeResizeFailed', what: 'NodeExpandVolume.NodeExpandVolume failed' } : { reason, what: `${verb}.${grow}` };
  }
  if (answer === noMountOptions) return { reason, what: `${verb}.MountOptionSupport check failed` };
  // A CSI driver answers so for reasons of its own.
  if (answer.code === 'FailedPrecondition' && operation.volume.driver !== csiPlugin) return { reason, what: `${verb}.NewMounter initialization failed` };
  return { reason, what: `${verb}.${operation.do === 'stage' ? stage : setUp} failed` };
}

const noMountOptions = failure('InvalidArgument', 'mount options are not supported for this volume type');
/** No failure of the volume: the node has to list it in volumesInUse first. */
const notYet = failure('Unavailable', 'the node does not list the volume in volumesInUse');

const unable = (driver: string, what: string): DriverFailure => failure('Unimplemented', `${driver} cannot ${what}`);

/** A volume that is staged has one lock for the whole node. */
function lockOf(operation: VolumeOperation): string {
  switch (operation.do) {
    case 'stage':
    case 'publish':
    case 'expand':
      return lockOfVolume(operation.volume);
    case 'unpublish':
    case 'unstage':
      return lockOfVolume({ stagingPath: undefined, ...operation.record });
  }
}

export const lockOfVolume = ({ stagingPath, key }: { readonly stagingPath: string | undefined; readonly key: string }): string => stagingPath ?? key;

export const expansionKey = (stagingPath: string): string => `growth of ${stagingPath}`;

/** The CSI driver, or the volume plugin. */
function driverNameOf(operation: VolumeOperation): string {
  const isUndoing = operation.do === 'unpublish' || operation.do === 'unstage';
  const csi = isUndoing ? csiOf(operation.record) : operation.volume.csi;
  return csi?.driver ?? (isUndoing ? operation.record.driver : operation.volume.driver);
}

/** Of a record of an earlier version: from its unique name. */
const csiOf = ({ csi, uniqueName }: PublishedRecord | StagedRecord): CsiSource | undefined => csi ?? parseUniqueName(uniqueName);

/** The key of the operation's failures. */
function keyOf(operation: VolumeOperation): string {
  if (operation.do === 'unpublish' || operation.do === 'unstage') return operation.record.key;
  if (operation.do === 'expand') return expansionKey(operation.volume.stagingPath ?? '');
  return operation.do === 'stage' ? (operation.volume.stagingPath ?? '') : operation.volume.key;
}

function recordOf(pod: PublishedPod, volume: Extract<VolumeOperation, { do: 'publish' }>['volume'], attached: string | undefined): PublishedRecord {
  const { key, podUid, podVolume, driver, onNode, uniqueName, target, stagingPath, claim, csi } = volume;
  return { type: 'published', key, podUid, pod: named(pod), podVolume, driver, name: onNode.name, uniqueName, target, stagingPath, claim, attached, csi };
}

type PublishedPod = Extract<VolumeOperation, { do: 'publish' }>['pod'];

const named = ({ metadata }: PublishedPod): string => `${metadata.namespace ?? ''}/${metadata.name}`;

const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
