import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ObjectExplanation } from '../../../why/explanation/explanation.ts';
import type { Target } from '../../../why/explanation/target.ts';
import { targetKey } from '../../model/explanations.ts';
import { browserWorld } from '../api/browser-world.ts';
import { revision } from './cluster.ts';
import { explain } from './explanations.ts';

/** Changes that come together are explained together. */
const settleMs = 60;
/** A deadline passes, or a backend answers, without any object changing. */
const againMs = 10_000;

/** The explanations of a few objects, asked for again after each change while a view shows them. */
export function useExplanationsOf(targets: readonly Target[]): ReadonlySignal<ReadonlyMap<string, ObjectExplanation>> {
  const explained = useSignal<ReadonlyMap<string, ObjectExplanation>>(new Map());
  const keys = targets.map(targetKey).join(' ');
  const seen = revision.value;
  useEffect(() => {
    const abort = new AbortController();
    let cancel = () => {};
    const ask = async () => {
      const found = await Promise.all(targets.map((target) => explain(target, abort.signal).catch(() => undefined)));
      if (abort.signal.aborted) return;
      explained.value = new Map(found.flatMap((each) => (each === undefined ? [] : [[targetKey(each.about), each] as const])));
      cancel = browserWorld.timers.after(againMs, () => void ask());
    };
    cancel = browserWorld.timers.after(explained.peek().size === 0 ? 0 : settleMs, () => void ask());
    return () => {
      abort.abort();
      cancel();
    };
  }, [keys, seen]);
  return explained;
}
