import { expect, test } from 'vitest';
import { type SimulatedWorld, simulate } from '../../sim/world/world.ts';
import type { PodState } from '../runtime.ts';
import { ImageCollector } from './image-collector.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const minutes = (count: number): number => count * 60_000;

/** A runtime whose pods have one container each. */
class Pods {
  readonly #pods = new Map<string, PodState>();
  #listener: (uid: string) => void = () => undefined;

  put(uid: string, imageId: string): void {
    const run = { id: uid, name: 'app', attempt: 0, image: 'app', imageId, state: { type: 'running', startedAt: 1 } } as const;
    this.#pods.set(uid, { uid, namespace: 'default', name: uid, sandbox: undefined, runs: [run] });
    this.#listener(uid);
  }

  remove(uid: string): void {
    this.#pods.delete(uid);
    this.#listener(uid);
  }

  pod(uid: string): PodState | undefined {
    return this.#pods.get(uid);
  }

  observe(listener: (uid: string) => void) {
    this.#listener = listener;
    return () => (this.#listener = () => undefined);
  }
}

function collecting({ timers, log }: SimulatedWorld, outcome: () => Promise<number> = () => Promise.resolve(0)) {
  const kept: (readonly string[])[] = [];
  const collect = (inUse: ReadonlySet<string>): Promise<number> => {
    kept.push([...inUse].sort());
    return outcome();
  };
  return { kept, collector: new ImageCollector({ images: { collect }, timers, log }) };
}

test('images are collected at the start and every five minutes, but for those of the containers of all nodes', () =>
  simulate(1, async (world) => {
    const { kept, collector } = collecting(world);
    const [first, second] = [new Pods(), new Pods()];
    for (const runtime of [first, second]) collector.follow(runtime);
    first.put('a', `docker.io/library/app@${digest('a')}`);
    second.put('b', `docker.io/library/app@${digest('b')}`);
    second.put('host', 'mooring.dev/host-image');
    await world.sleep(minutes(10));
    expect(kept).toEqual([]);
    collector.start();
    first.remove('a');
    await world.sleep(minutes(6));
    expect(kept).toEqual([[digest('a'), digest('b')], [digest('b')]]);
    await collector.stop();
    await world.sleep(minutes(20));
    expect(kept).toHaveLength(2);
  }));

test('a collection that fails is repeated; one that runs is waited for, and is the last', () =>
  simulate(1, async (world) => {
    let outcome = (): Promise<number> => Promise.reject(new Error('the disk is gone'));
    const { kept, collector } = collecting(world, () => outcome());
    collector.start();
    await world.sleep(minutes(1));
    let finish: (bytes: number) => void = () => undefined;
    let hasStopped = false;
    outcome = () => new Promise((resolve) => (finish = resolve));
    await world.sleep(minutes(5));
    expect(kept).toHaveLength(2);
    const stopped = collector.stop().then(() => (hasStopped = true));
    await world.sleep(minutes(1));
    expect(hasStopped).toBe(false);
    finish(5);
    await stopped;
    await world.sleep(minutes(20));
    expect(kept).toHaveLength(2);
  }));
