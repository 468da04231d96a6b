import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { RecentMap } from '../../client/recent-map.ts';
import type { NodeDriver, VolumeHealth } from '../../drivers/contract.ts';
import type { Cancel, Timers } from '../../world/world.ts';
import type { ActualVolume } from './actual-state.ts';

export interface VolumeHealthMonitorOptions {
  readonly timers: Timers;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly driver: (name: string) => NodeDriver | undefined;
  readonly pods: () => readonly Stored<Pod>[];
  /** Those of a pod that are mounted, or may be. */
  readonly volumesOf: (uid: string) => Iterable<ActualVolume>;
}

/** volumeStatsAggPeriod of the kubelet. */
const periodMs = 60_000;
const remembered = 10_000;

/**
 * Asks about the health of CSI volumes once a minute, as the kubelet does with its gate CSIVolumeHealth (v1.36.4, volume_stat_calculator.go). One volume is
 * asked about at a time, so that a thousand of them are no burst of calls. Without mounted CSI volumes no timer runs.
 */
export class VolumeHealthMonitor {
  readonly #options: VolumeHealthMonitorOptions;
  /** By 'uid/volume': what its driver last told of a volume that cannot be used as it should; '': that it can. */
  readonly #abnormal = new RecentMap<string, string>(remembered);
  #state: { readonly type: 'resting' | 'asking' | 'stopped' } | { readonly type: 'waiting'; readonly cancel: Cancel } = { type: 'resting' };

  constructor(options: VolumeHealthMonitorOptions) {
    this.#options = options;
  }

  /** A volume was mounted. */
  start(): void {
    if (this.#state.type !== 'resting') return;
    this.#state = { type: 'waiting', cancel: this.#options.timers.after(periodMs, () => void this.#askAll()) };
  }

  stop(): void {
    if (this.#state.type === 'waiting') this.#state.cancel();
    this.#state = { type: 'stopped' };
  }

  /** An event for each new message. */
  report(pod: Stored<Pod>, volume: string, { abnormal, message }: VolumeHealth): void {
    const key = `${pod.metadata.uid}/${volume}`;
    const told = this.#abnormal.get(key) ?? '';
    this.#abnormal.set(key, abnormal ? message : '');
    if (abnormal && told !== message)
      this.#options.recorder.record(pod, { type: 'Warning', reason: 'VolumeConditionAbnormal', message: `Volume ${volume}: ${message}` });
  }

  async #askAll(): Promise<void> {
    this.#state = { type: 'asking' };
    let hasVolumes = false;
    for (const pod of this.#options.pods()) {
      // A copy: volumes come and go while a driver is asked.
      for (const volume of Array.from(this.#options.volumesOf(pod.metadata.uid))) {
        if (this.#isStopped()) return;
        if (volume.record.csi === undefined || volume.mounted === undefined) continue;
        hasVolumes = true;
        const answer = await this.#options.driver(volume.record.driver)?.nodeGetVolumeHealth?.(volume.record.csi, volume.mounted.hostPath);
        if (answer?.ok === true && answer.value !== undefined) this.report(pod, volume.record.podVolume, answer.value);
      }
    }
    if (this.#isStopped()) return;
    this.#state = { type: 'resting' };
    if (hasVolumes) this.start();
  }

  #isStopped(): boolean {
    return this.#state.type === 'stopped';
  }
}
