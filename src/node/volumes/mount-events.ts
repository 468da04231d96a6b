import type { VolumeState } from './volume-state.ts';

/** What an agent remembers of a pod whose volumes are not mounted yet. Times are milliseconds since 1970. */
export interface MountWaitState {
  /** By the volume's name in the pod. */
  readonly failures: ReadonlyMap<string, { readonly waitMs: number; readonly nextAt: number; readonly message: string }>;
  /** The last event about the pod's claims. */
  readonly claims: { readonly message: string; readonly nextAt: number } | undefined;
  /** When waiting for volumes whose claims are in order times out; undefined: there are none. */
  readonly timesOutAt: number | undefined;
  /** Why the pod cannot stay on the node. */
  readonly rejected?: string | undefined;
}

export const notWaiting: MountWaitState = { failures: new Map(), claims: undefined, timesOutAt: undefined };

export interface MountWait {
  readonly events: readonly MountEvent[];
  readonly memory: MountWaitState;
  /** When the next event is due if nothing changes. */
  readonly again: number | undefined;
}

export interface MountEvent {
  readonly reason: 'FailedMount' | 'FailedMapVolume';
  readonly message: string;
}

const firstWaitMs = 500;
const longestWaitMs = 122_000;
const claimsEveryMs = 10_000;
/** The kubelet's time-out for a pod's volumes; after a pause the kubelet waits again. */
const timeoutMs = 123_000;
const pauseMs = 10_000;

/**
 * The kubelet's events about volumes that are not ready. A failing mount is reported after half a second, then after twice as long each
 * time; a claim that cannot be used, every ten seconds; a missing attachment, not at all. After two minutes a time-out names the volumes that
 * are still missing; if the node has no room for one of them, the pod is rejected instead, so that another may be scheduled elsewhere. This times the events only: a volume is mounted as soon as it is ready.
 */
export function waitForVolumes(states: readonly VolumeState[], memory: MountWaitState, now: number): MountWait {
  const events: MountEvent[] = [];
  const failures = new Map<string, { waitMs: number; nextAt: number; message: string }>();
  for (const state of states) {
    if (state.state !== 'failing') continue;
    const before = memory.failures.get(state.name);
    const isNews = before === undefined || before.message !== state.message;
    if (isNews || now >= before.nextAt) {
      const waitMs = isNews ? firstWaitMs : Math.min(2 * before.waitMs, longestWaitMs);
      failures.set(state.name, { waitMs, nextAt: now + waitMs, message: state.message });
      events.push({ reason: state.reason, message: state.message });
    } else {
      failures.set(state.name, before);
    }
  }
  const claims = claimEvent(states, memory.claims, now);
  if (claims !== undefined && claims !== memory.claims) events.push({ reason: 'FailedMount', message: claims.message });
  const isLate = memory.timesOutAt !== undefined && now >= memory.timesOutAt;
  const patienceEnds = isWaiting(states) ? (isLate ? now + pauseMs + timeoutMs : (memory.timesOutAt ?? now + timeoutMs)) : undefined;
  const isTimeout = isLate && patienceEnds !== undefined;
  const rejected = patienceEnds === undefined ? undefined : isTimeout && isWithoutRoom(states) ? noRoom(states) : memory.rejected;
  if (isTimeout && rejected === undefined) events.push({ reason: 'FailedMount', message: unable(states, tooLate) });
  const times = [
    ...[...failures.values()].map(({ nextAt }) => nextAt),
    ...(claims === undefined ? [] : [claims.nextAt]),
    ...(patienceEnds === undefined ? [] : [patienceEnds]),
  ];
  return { events: events, memory: { failures, claims, timesOutAt: patienceEnds, rejected }, again: times.length === 0 ? undefined : Math.min(...times) };
}

const tooLate = 'context deadline exceeded';

const isWithoutRoom = (states: readonly VolumeState[]): boolean => states.some((each) => each.state === 'unattached' && each.exhausted === true);

/** With a claim that cannot be used, the kubelet does not begin to wait. */
const isWaiting = (states: readonly VolumeState[]): boolean =>
  states.some(({ state }) => state === 'failing' || state === 'unattached') && states.every(({ state }) => state !== 'unclaimed');

function claimEvent(states: readonly VolumeState[], before: MountWaitState['claims'], now: number): MountWaitState['claims'] {
  const message = complaint(states);
  if (message === undefined) return undefined;
  if (before !== undefined && before.message === message && now < before.nextAt) return before;
  return { message, nextAt: now + claimsEveryMs };
}

function complaint(states: readonly VolumeState[]): string | undefined {
  const errors = new Set(states.flatMap((each) => (each.state === 'unclaimed' ? [each.error] : [])));
  return errors.size === 0 ? undefined : unable(states, [...errors].sort().join('; '));
}

/** 'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: …' */
const unable = (states: readonly VolumeState[], why: string): string => `Unable to attach or mount volumes: ${missing(states, why)}`;
const noRoom = (states: readonly VolumeState[]): string => `Node has reached its volume attachment limit, rejecting pod. ${missing(states, tooLate)}`;

function missing(states: readonly VolumeState[], why: string): string {
  const named = (is: (state: VolumeState['state']) => boolean) =>
    `[${states
      .filter(({ state }) => is(state))
      .map(({ name }) => name)
      .sort()
      .join(' ')}]`;
  const lists = [
    `unmounted volumes=${named((state) => state !== 'ready')}`,
    `unattached volumes=${named((state) => state === 'unattached')}`,
    `failed to process volumes=${named((state) => state === 'unclaimed')}`,
  ];
  return `${lists.join(', ')}: ${why}`;
}
