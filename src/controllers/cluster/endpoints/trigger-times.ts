/** Since when it is known that endpoints have to change: programs measure by it how long the network takes to follow. */
import type { Pod, Service } from '../../../api/generated/types.ts';

/** As last seen. */
export interface TriggerTimes {
  readonly service: string;
  /** By name of pod: when it last became ready, or unready. */
  readonly pods: Readonly<Record<string, string>>;
}

export function triggerTimesOf({ metadata }: Service, pods: readonly Pod[]): TriggerTimes {
  const times = pods.flatMap((pod) => {
    const since = pod.status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
    return since === undefined || since === null ? [] : [[pod.metadata.name ?? '', since] as const];
  });
  return { service: metadata.creationTimestamp ?? '', pods: Object.fromEntries(times.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** The earliest of all times that are new; for a service that was not known, when it was made. Undefined: nothing is new. */
export function triggerTime(now: TriggerTimes, before: TriggerTimes | undefined): string | undefined {
  if (before === undefined) return now.service === '' ? undefined : now.service;
  const news = Object.entries(now.pods).flatMap(([name, time]) => (time > (before.pods[name] ?? '') ? [time] : []));
  if (now.service > before.service) news.push(now.service);
  return news.length === 0 ? undefined : news.reduce((earliest, time) => (time < earliest ? time : earliest));
}

export const sameTriggerTimes = (a: TriggerTimes, b: TriggerTimes | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);
