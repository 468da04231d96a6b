/** What goes wrong in the cloud. A fault holds while it is set; one with a probability is drawn for each call. */
import type { CapacityType } from './records.ts';

export type Fault =
  /** Calls are refused with RequestLimitExceeded. Absent actions: all. */
  | { readonly fault: 'throttling'; readonly actions?: readonly string[]; readonly probability?: number }
  /** The call takes effect, and its answer never arrives. */
  | { readonly fault: 'lost-answer'; readonly actions?: readonly string[]; readonly probability?: number }
  /** Attachments stay attaching. */
  | { readonly fault: 'stuck-attaching'; readonly instances?: readonly string[]; readonly volumes?: readonly string[]; readonly probability?: number }
  /** DescribeInstances shows block devices as they were so many seconds ago; DescribeVolumes shows them as they are. */
  | { readonly fault: 'describe-lag'; readonly seconds: number }
  /** InsufficientInstanceCapacity. Absent: all types, zones and capacity types. */
  | {
      readonly fault: 'insufficient-capacity';
      readonly instanceTypes?: readonly string[];
      readonly zones?: readonly string[];
      readonly capacityType?: CapacityType;
    }
  /** Nothing of the zone answers or changes: its instances are frozen, its calls fail with InternalError. */
  | { readonly fault: 'dark-zone'; readonly zone: string }
  /** The instance runs and answers nothing. */
  | { readonly fault: 'frozen-instance'; readonly instance: string }
  /** The instance ends at once, as by a failure of its host. */
  | { readonly fault: 'lost-instance'; readonly instance: string };

/** The faults that hold now, as decisions ask for them. */
export class Faults {
  readonly #all: readonly Fault[];

  constructor(all: readonly Fault[] = []) {
    this.#all = all;
  }

  isThrottled(action: string, random: () => number): boolean {
    return this.#strikes('throttling', action, random);
  }

  losesAnswer(action: string, random: () => number): boolean {
    return this.#strikes('lost-answer', action, random);
  }

  staysAttaching(volume: string, instance: string, random: () => number): boolean {
    return this.#all.some(
      (each) =>
        each.fault === 'stuck-attaching' &&
        (each.instances?.includes(instance) ?? true) &&
        (each.volumes?.includes(volume) ?? true) &&
        random() < (each.probability ?? 1),
    );
  }

  describeLagMs(): number {
    return this.#all.reduce((most, each) => (each.fault === 'describe-lag' ? Math.max(most, each.seconds * 1000) : most), 0);
  }

  lacksCapacity(instanceType: string, zone: string, capacityType: CapacityType): boolean {
    return (
      this.isDark(zone) ||
      this.#all.some(
        (each) =>
          each.fault === 'insufficient-capacity' &&
          (each.instanceTypes?.includes(instanceType) ?? true) &&
          (each.zones?.includes(zone) ?? true) &&
          (each.capacityType ?? capacityType) === capacityType,
      )
    );
  }

  isDark(zone: string): boolean {
    return this.#all.some((each) => each.fault === 'dark-zone' && each.zone === zone);
  }

  isFrozen({ id, zone }: { readonly id: string; readonly zone: string }): boolean {
    return this.isDark(zone) || this.#all.some((each) => each.fault === 'frozen-instance' && each.instance === id);
  }

  lostInstances(): readonly string[] {
    return this.#all.flatMap((each) => (each.fault === 'lost-instance' ? each.instance : []));
  }

  #strikes(fault: 'throttling' | 'lost-answer', action: string, random: () => number): boolean {
    return this.#all.some((each) => each.fault === fault && (each.actions?.includes(action) ?? true) && random() < (each.probability ?? 1));
  }
}
