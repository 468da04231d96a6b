import { expect, test } from 'vitest';
import type { VolumeState } from './volume-state.ts';
import { type MountWaitState, notWaiting, waitForVolumes } from './mount-events.ts';

const failing = (message: string, name = 'a'): VolumeState => ({ state: 'failing', name, reason: 'FailedMount', message });

/** When something is said within so many milliseconds, if one looks at it only when asked to. */
function saidAt(states: readonly VolumeState[], ms: number): number[] {
  const said: number[] = [];
  let memory: MountWaitState = notWaiting;
  for (let now = 0; now <= ms; ) {
    const wait = waitForVolumes(states, memory, now);
    memory = wait.memory;
    if (wait.events.length > 0) said.push(now);
    if (wait.again === undefined) break;
    now = wait.again;
  }
  return said;
}

/** When patience ends. */
const late = [123_000, 256_000, 389_000];

test('a mount that fails is told of half a second later, then after twice as long each time, up to two minutes', () =>
  expect(saidAt([failing('cannot')], 400_000).filter((at) => !late.includes(at))).toEqual([
    0, 500, 1500, 3500, 7500, 15_500, 31_500, 63_500, 127_500, 249_500, 371_500,
  ]));

test('claims are told of every ten seconds', () =>
  expect(saidAt([{ state: 'unclaimed', name: 'a', error: 'no' }], 30_000)).toEqual([0, 10_000, 20_000, 30_000]));

test('an attachment is waited for in silence, and each time that patience has ended it is said what is not there (v1.36.4)', () => {
  const states: VolumeState[] = [{ state: 'unattached', name: 'a' }, { state: 'ready', name: 'b' }, failing('cannot', 'c')];
  expect(saidAt(states.slice(0, 2), 400_000)).toEqual(late);
  const { memory } = waitForVolumes(states, notWaiting, 0);
  expect(waitForVolumes(states, memory, 123_000).events.at(-1)).toEqual({
    reason: 'FailedMount',
    message: 'Unable to attach or mount volumes: unmounted volumes=[a c], unattached volumes=[a], failed to process volumes=[]: context deadline exceeded',
  });
  expect(waitForVolumes([{ state: 'ready', name: 'a' }], memory, 123_000)).toEqual({ events: [], memory: notWaiting, again: undefined });
});

test('a pod with a volume for which the node has no room is rejected when patience has ended (v1.36.4)', () => {
  const states: VolumeState[] = [
    { state: 'unattached', name: 'b', exhausted: true },
    { state: 'unattached', name: 'a' },
  ];
  const { memory } = waitForVolumes(states, notWaiting, 0);
  expect(memory.rejected).toBeUndefined();
  expect(waitForVolumes(states, memory, 122_999).memory.rejected).toBeUndefined();
  const late = waitForVolumes(states, memory, 123_000);
  expect(late.events).toEqual([]);
  expect(late.memory.rejected).toBe(
    'Node has reached its volume attachment limit, rejecting pod. unmounted volumes=[a b], unattached volumes=[a b], failed to process volumes=[]: context deadline exceeded',
  );
  expect(waitForVolumes(states, late.memory, 123_001).memory.rejected).toBe(late.memory.rejected);
});

test('looking more often says nothing more; news are told at once', () => {
  const { memory } = waitForVolumes([failing('one')], notWaiting, 0);
  expect(waitForVolumes([failing('one')], memory, 400).events).toEqual([]);
  expect(waitForVolumes([failing('two')], memory, 400)).toMatchObject({ events: [{ reason: 'FailedMount', message: 'two' }], again: 900 });
});

test('volumes are listed by what they wait for, and errors once, in order', () => {
  const states: VolumeState[] = [
    { state: 'ready', name: 'r' },
    { state: 'unattached', name: 'd' },
    { state: 'unclaimed', name: 'c', error: 'z' },
    { state: 'unclaimed', name: 'b', error: 'a' },
    { state: 'unclaimed', name: 'a', error: 'a' },
  ];
  expect(waitForVolumes(states, notWaiting, 0).events).toEqual([
    {
      reason: 'FailedMount',
      message: 'Unable to attach or mount volumes: unmounted volumes=[a b c d], unattached volumes=[d], failed to process volumes=[a b c]: a; z',
    },
  ]);
});
