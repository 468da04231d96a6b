import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import { EmptyDirEviction } from './empty-dir-eviction.ts';

/** Pods with one directory each, timers that run when they are told to. */
function scene() {
  const timers: (() => void)[] = [];
  const used = new Map<string, number>();
  const asked: string[] = [];
  const said: string[] = [];
  const after = (ms: number, callback: () => void) => {
    expect(ms).toBe(10_000);
    timers.push(callback);
    return () => void timers.splice(timers.indexOf(callback), 1);
  };
  const overfull = new EmptyDirEviction({
    world: { timers: { after, soon: () => undefined } },
    usedBytes: (pod, volume) => {
      asked.push(`${pod.metadata.uid} ${volume}`);
      return Promise.resolve(used.get(pod.metadata.uid ?? ''));
    },
    onExceeded: (pod, message) => said.push(`${pod.metadata.uid}: ${message}`),
  });
  const pass = async (): Promise<void> => {
    timers.splice(0).forEach((callback) => callback());
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { overfull, timers, used, asked, said, pass };
}

const pod = (uid: string, emptyDir: object, priority?: number): Pod =>
  ({ metadata: { uid }, spec: { priority, volumes: [{ name: 'cache', emptyDir }] } }) as unknown as Pod;

test('a pod whose directory holds more than its limit is told of, once, in the words of kubelets (v1.36.4)', async () => {
  const { overfull, timers, used, said, pass } = scene();
  overfull.follow(pod('a', { sizeLimit: '1Mi' }));
  overfull.follow(pod('b', { sizeLimit: '1Mi' }));
  used.set('a', 2 ** 20).set('b', 2 ** 20);
  await pass();
  expect(said).toEqual([]);
  used.set('a', 2 ** 20 + 1);
  await pass();
  await pass();
  expect(said).toEqual(['a: Usage of EmptyDir volume "cache" exceeds the limit "1Mi". ']);
  overfull.forget('b');
  expect(timers).toEqual([]);
});

test('nobody looks at pods that are gone, critical, without a limit or with one that the kernel keeps', async () => {
  const { overfull, timers, asked, pass } = scene();
  overfull.follow(pod('none', {}));
  overfull.follow(pod('zero', { sizeLimit: '0' }));
  overfull.follow(pod('memory', { sizeLimit: '1Mi', medium: 'Memory' }));
  overfull.follow(pod('critical', { sizeLimit: '1Mi' }, 2_000_001_000));
  expect(timers).toEqual([]);
  overfull.follow(pod('gone', { sizeLimit: '1Mi' }));
  overfull.forget('gone');
  await pass();
  expect([timers, asked]).toEqual([[], []]);
});
