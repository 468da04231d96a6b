import type { Event } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { ebsDriverName } from '../../drivers/aws-ebs/driver.ts';
import type { Ec2Call } from '../cluster/simulated-ebs.ts';
import { ec2CallText } from './ec2-call-text.ts';
import type { BackendCallRecord } from './simulated-backend.ts';
import type { RecordedChange } from './object-history.ts';
import { isNarrated, narrate } from '../../why/timeline/narration.ts';
import { describeEvent } from '../../why/timeline/event-description.ts';
import { pluralOf, type ScenarioCluster } from './scenario-cluster.ts';
import type { ScenarioTimeline } from './scenario-timeline.ts';

/** A change that is added to the timeline in a moment. */
interface Waiting {
  readonly at: number;
  readonly change: RecordedChange;
  readonly object: KubeObject;
  /** The probable author. */
  readonly by: string | undefined;
}

/** Adds changes, events and backend calls to the timeline, from `begin` on. */
export class Narrator {
  readonly #timeline: ScenarioTimeline;
  readonly #begin: () => number | undefined;
  #waiting: Waiting[] = [];
  #cluster: ScenarioCluster | undefined;

  constructor(timeline: ScenarioTimeline, begin: () => number | undefined) {
    this.#timeline = timeline;
    this.#begin = begin;
  }

  /** `then`: called after each batch of changes. */
  follow(cluster: ScenarioCluster, then: () => void): void {
    this.#cluster = cluster;
    cluster.history.onChange((changes) => {
      const begin = this.#begin();
      if (begin === undefined) return;
      const at = cluster.world.clock.monotonic() - begin;
      const planned = this.#waiting.length > 0;
      for (const change of changes) {
        const object = change.after ?? change.before;
        if (object === undefined || !isNarrated(object.kind)) continue;
        this.#waiting.push({ at, change, object, by: cluster.writers.lastAuthorOf(object, pluralOf(object)) });
      }
      // The author is known when it has its answer, which is a moment later.
      if (!planned && this.#waiting.length > 0) cluster.world.timers.after(1, () => (this.flush(), then()));
    });
  }

  backendCalled({ driver, call, failure }: BackendCallRecord): void {
    const [cluster, begin] = [this.#cluster, this.#begin()];
    if (cluster === undefined || begin === undefined) return;
    const at = cluster.world.clock.monotonic() - begin;
    this.flush();
    if (failure === undefined) this.#timeline.add({ at, type: 'backend', who: driver, about: '', what: call });
    else this.#timeline.add({ at, type: 'failure', who: driver, about: '', what: `${call}: ${failure.code}: ${failure.message}` }, 'calls');
  }

  /** What the driver of the cloud's disks did, or could not do; it looks more often than that. */
  ec2Called(call: Ec2Call): void {
    const told = ec2CallText(call);
    if (told !== undefined) this.backendCalled({ driver: ebsDriverName, ...told });
  }

  /** Adds the pending changes, before another entry is added. */
  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) this.#addChange(each);
  }

  #addChange({ at, object, by, change: { before, after, revision } }: Waiting): void {
    if (object.kind === 'Event') {
      if (after !== undefined) this.#addEvent(at, after as unknown as Event);
      return;
    }
    const who = this.#cluster?.writers.authorOf(revision) ?? by ?? '';
    for (const { about, what } of narrate(before, after)) this.#timeline.add({ at, type: 'change', who, about, what });
  }

  #addEvent(at: number, event: Event): void {
    const described = describeEvent(event);
    if (described !== undefined) this.#timeline.add({ at, ...described }, event.involvedObject.uid ?? '');
  }
}
