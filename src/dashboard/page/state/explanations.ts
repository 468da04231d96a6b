import { effect, signal } from '@preact/signals';
import type { ObjectExplanation, UnreadResource } from '../../../why/explanation/explanation.ts';
import type { Target } from '../../../why/explanation/target.ts';
import { type ExplanationListObject, type ExplanationObject, explanationIn, explanationPath, targetKey } from '../../model/explanations.ts';
import { browserWorld } from '../api/browser-world.ts';
import { getJson, messageOf } from '../api/requests.ts';
import { namespace, revision } from './cluster.ts';

/** Everything that is stuck or waits, by target: the answer of `moor why`. */
export const overview = signal<ReadonlyMap<string, ObjectExplanation>>(new Map());
export const unseen = signal<readonly UnreadResource[]>([]);
/** Why there is no overview; '': there is one. */
export const overviewProblem = signal('');

/** Between two overviews, and how much longer than the server's own time for one: fifty pages must not keep it busy. */
const restMs = 2_000;
const restFactor = 30;

let busy = false;
let asked = -1;
/** Grows when another overview may be asked for. */
const due = signal(0);
let stopped: (() => void) | undefined;

/** Asks again after changes, not too often. */
export function followExplanations(): void {
  stopped?.();
  stopped = effect(() => {
    const [seen, chosen] = [revision.value, namespace.value, due.value];
    if (busy || seen === asked || document.hidden) return;
    busy = true;
    asked = seen;
    void refresh(chosen).then((tookMs) =>
      browserWorld.timers.after(Math.max(restMs, tookMs * restFactor), () => {
        busy = false;
        due.value++;
      }),
    );
  });
}

async function refresh(chosen: string): Promise<number> {
  const began = browserWorld.clock.monotonic();
  const path = `/apis/mooring.dev/v1/${chosen === '' ? '' : `namespaces/${encodeURIComponent(chosen)}/`}explanations?resourceVersion=0`;
  try {
    const list = await getJson<ExplanationListObject>(path);
    overview.value = new Map(list.items.map((item) => [targetKey(item.spec), explanationIn(item)]));
    unseen.value = list.unseen ?? [];
    overviewProblem.value = '';
  } catch (error) {
    overviewProblem.value = messageOf(error);
    // A request that was lost is sent again, after the same rest.
    asked = -1;
  }
  return browserWorld.clock.monotonic() - began;
}

/** One object, as it is now. @throws ApiError */
export const explain = async (target: Target, signal?: AbortSignal): Promise<ObjectExplanation> =>
  explanationIn(await getJson<ExplanationObject>(explanationPath(target), signal));
