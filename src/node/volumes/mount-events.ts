import type { VolumeState } from './volume-state.ts';

/** What an agent remembers of a pod whose volumes it cannot mount yet. Times are milliseconds since 1970. */
export interface MountWaitState {
  /** By the volume's name in the pod. */
  readonly failures: ReadonlyMap<string, { readonly waitMs: number; readonly nextAt: number; readonly message: string }>;
  /** What was last said of the pod's claims. */
  readonly claims: { readonly message: string; readonly nextAt: number } | undefined;
  /** When patience ends with volumes that are in order and still not there; undefined: there are none. */
  readonly timesOutAt: number | undefined;
}

export const notWaiting: MountWaitState = { failures: new Map(), claims: undefined, timesOutAt: undefined };

export interface MountWait {
  readonly events: readonly MountEvent[];
  readonly memory: MountWaitState;
  /** When there will be more to say if nothing changes. */
  readonly again: number | undefined;
}

export interface MountEvent {
  readonly reason: 'FailedMount' | 'FailedMapVolume';
  readonly message: string;
}

const firstWaitMs = 500;
const longestWaitMs = 122_000;
const claimsEveryMs = 10_000;
/** That long a pod's volumes are waited for; then people are told, and it begins anew after a pause. */
const patienceMs = 123_000;
const pauseMs = 10_000;

/**
 * What there is to say about volumes that are not ready. A mount that fails is tried again after half a second, then after twice as
 * long each time; claims that are not in order are looked at every ten seconds; for an attachment one waits in silence. After two minutes
 * it is said what is still not there. All of that only decides what is said: as soon as things are in order nobody waits any longer.
 */
export function waitForVolumes(states: readonly VolumeState[], memory: MountWaitState, now: number): MountWait {
  const complaints: MountEvent[] = [];
  const failures = new Map<string, { waitMs: number; nextAt: number; message: string }>();
  for (const state of states) {
    if (state.state !== 'failing') continue;
    const before = memory.failures.get(state.name);
    const isNews = before === undefined || before.message !== state.message;
    if (isNews || now >= before.nextAt) {
      const waitMs = isNews ? firstWaitMs : Math.min(2 * before.waitMs, longestWaitMs);
      failures.set(state.name, { waitMs, nextAt: now + waitMs, message: state.message });
      complaints.push({ reason: state.reason, message: state.message });
    } else {
      failures.set(state.name, before);
    }
  }
  const claims = claimEvent(states, memory.claims, now);
  if (claims !== undefined && claims !== memory.claims) complaints.push({ reason: 'FailedMount', message: claims.message });
  const isLate = memory.timesOutAt !== undefined && now >= memory.timesOutAt;
  const patienceEnds = isWaiting(states) ? (isLate ? now + pauseMs + patienceMs : (memory.timesOutAt ?? now + patienceMs)) : undefined;
  if (isLate && patienceEnds !== undefined) complaints.push({ reason: 'FailedMount', message: unable(states, 'context deadline exceeded') });
  const times = [
    ...[...failures.values()].map(({ nextAt }) => nextAt),
    ...(claims === undefined ? [] : [claims.nextAt]),
    ...(patienceEnds === undefined ? [] : [patienceEnds]),
  ];
  return { events: complaints, memory: { failures, claims, timesOutAt: patienceEnds }, again: times.length === 0 ? undefined : Math.min(...times) };
}

/** Whoever has a claim that is not in order does not even begin to wait. */
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
function unable(states: readonly VolumeState[], why: string): string {
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
  return `Unable to attach or mount volumes: ${lists.join(', ')}: ${why}`;
}
