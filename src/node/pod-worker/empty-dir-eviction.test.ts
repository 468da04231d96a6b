import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { EmptyDirEviction } from './empty-dir-eviction.ts';

/** Pods with one emptyDir each, and timers that the test fires. */
function setUp() {
  const timers: (() => void)[] = [];
  const used = new Map<string, number>();
  const asked: string[] = [];
  const evicted: string[] = [];
  const after = (ms: number, callback: () => void) => {
    expect(ms).toBe(10_000);
    timers.push(callback);
    return () => void timers.splice(timers.indexOf(callback), 1);
  };
  const eviction = new EmptyDirEviction({
    world: { timers: { after, soon: () => undefined } },
    usedBytes: (pod, volume) => {
      asked.push(`${pod.metadata.uid} ${volume}`);
      return Promise.resolve(used.get(pod.metadata.uid));
    },
    onExceeded: (pod, message) => evicted.push(`${pod.metadata.uid}: ${message}`),
  });
  const pass = async (): Promise<void> => {
    timers.splice(0).forEach((callback) => callback());
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { eviction, timers, used, asked, evicted, pass };
}

const pod = (uid: string, emptyDir: object, priority?: number): Stored<Pod> =>
  ({ metadata: { uid }, spec: { priority, containers: [], volumes: [{ name: 'cache', emptyDir }] } }) as unknown as Stored<Pod>;

test('a pod whose directory holds more than its limit is evicted, once, with the message of kubelets (v1.36.4)', async () => {
  const { eviction, timers, used, evicted, pass } = setUp();
  eviction.follow(pod('a', { sizeLimit: '1Mi' }));
  eviction.follow(pod('b', { sizeLimit: '1Mi' }));
  used.set('a', 2 ** 20).set('b', 2 ** 20);
  await pass();
  expect(evicted).toEqual([]);
  used.set('a', 2 ** 20 + 1);
  await pass();
  await pass();
  expect(evicted).toEqual(['a: Usage of EmptyDir volume "cache" exceeds the limit "1Mi". ']);
  eviction.forget('b');
  expect(timers).toEqual([]);
});

test('a pod whose directories hold more together than its containers may use is evicted; volumes in memory do not count', async () => {
  const { eviction, used, asked, evicted, pass } = setUp();
  const limits = (...amounts: readonly string[]) => amounts.map((amount) => ({ name: 'c', resources: { limits: { 'ephemeral-storage': amount } } }));
  const volumes = [
    { name: 'one', emptyDir: {} },
    { name: 'two', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory' } },
  ];
  const total = (uid: string, spec: object) => ({ metadata: { uid }, spec: { volumes, ...spec } }) as unknown as Stored<Pod>;
  eviction.follow(total('a', { containers: limits('1Mi', '1Mi') }));
  eviction.follow(total('no-directory', { containers: limits('1Mi'), volumes: [] }));
  used.set('a', 2 ** 20);
  await pass();
  expect([evicted, asked]).toEqual([[], ['a one', 'a two']]);
  used.set('a', 2 ** 20 + 1);
  await pass();
  expect(evicted).toEqual(['a: Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ']);
});

test('pods are not checked that are gone, critical, without a limit, or with a limit that the kernel enforces', async () => {
  const { eviction, timers, asked, pass } = setUp();
  eviction.follow(pod('none', {}));
  eviction.follow(pod('zero', { sizeLimit: '0' }));
  eviction.follow(pod('memory', { sizeLimit: '1Mi', medium: 'Memory' }));
  eviction.follow(pod('critical', { sizeLimit: '1Mi' }, 2_000_001_000));
  expect(timers).toEqual([]);
  eviction.follow(pod('gone', { sizeLimit: '1Mi' }));
  eviction.forget('gone');
  await pass();
  expect([timers, asked]).toEqual([[], []]);
});
