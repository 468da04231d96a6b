/** The times for the last-change-trigger-time annotation, by which clients measure network programming latency. */
import type { Pod, Service } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';

/** As of the last pass. */
export interface TriggerTimes {
  readonly service: string;
  /** By pod name: when its readiness last changed. */
  readonly pods: Readonly<Record<string, string>>;
}

export function triggerTimesOf({ metadata }: Stored<Service>, pods: readonly Stored<Pod>[]): TriggerTimes {
  const times = pods.flatMap((pod) => {
    const since = pod.status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
    return since === undefined || since === null ? [] : [[pod.metadata.name, since] as const];
  });
  return { service: metadata.creationTimestamp ?? '', pods: Object.fromEntries(times.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** The earliest of the changed times; for a new Service its creation time. Undefined: no time changed. */
export function triggerTime(now: TriggerTimes, before: TriggerTimes | undefined): string | undefined {
  if (before === undefined) return now.service === '' ? undefined : now.service;
  const changed = Object.entries(now.pods).flatMap(([name, time]) => (time > (before.pods[name] ?? '') ? [time] : []));
  if (now.service > before.service) changed.push(now.service);
  return changed.length === 0 ? undefined : changed.reduce((earliest, time) => (time < earliest ? time : earliest));
}

export const sameTriggerTimes = (a: TriggerTimes, b: TriggerTimes | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);
