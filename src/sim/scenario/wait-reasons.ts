/** Explains, with `moor why`, each object that has waited for a while. */
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { csiStorageCapacityKind } from '../../api/kinds/storage/csi-storage-capacity.ts';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { nodeClaimKind } from '../../api/kinds/karpenter/node-claim.ts';
import { nodePoolKind } from '../../api/kinds/karpenter/node-pool.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import { volumeIntentKind } from '../../api/kinds/mooring/volume-intent.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import { explain } from '../../why/explain.ts';
import { nothingToDo, type ObjectExplanation } from '../../why/explanation/explanation.ts';
import type { ClusterObjects } from '../../why/graph/cluster-objects.ts';
import type { Target } from '../../why/explanation/target.ts';
import type { ObjectHistory } from './object-history.ts';
import { nameOf } from '../../why/timeline/object-name.ts';
import type { ScenarioCluster } from './scenario-cluster.ts';
import type { ScenarioTimeline } from './scenario-timeline.ts';

const patienceMs = 5_000;
const againMs = 60_000;
/** The most explanations at one time. */
const mostReasons = 20;

export class WaitReasons {
  readonly #cluster: ScenarioCluster;
  readonly #timeline: ScenarioTimeline;
  readonly #begin: number;
  /** Since when each object waits, and its last explanation. */
  readonly #waiting = new Map<string, { readonly since: number; reported: string }>();
  /** The time of the next check. */
  #next = Number.POSITIVE_INFINITY;

  constructor(cluster: ScenarioCluster, timeline: ScenarioTimeline, begin: number) {
    this.#cluster = cluster;
    this.#timeline = timeline;
    this.#begin = begin;
  }

  /** An object changed: others may wait for something else now. */
  changed(): void {
    const now = this.#cluster.world.clock.monotonic();
    const waiting = new Set(targetsOf(this.#cluster.history).map(({ id }) => id));
    for (const id of this.#waiting.keys()) if (!waiting.has(id)) this.#waiting.delete(id);
    for (const id of waiting) if (!this.#waiting.has(id)) this.#waiting.set(id, { since: now, reported: '' });
    if (waiting.size > 0) this.#plan(now + patienceMs);
  }

  #plan(at: number): void {
    if (this.#next <= at) return;
    this.#next = at;
    const { world } = this.#cluster;
    world.timers.after(at - world.clock.monotonic(), () => {
      if (this.#next !== at) return;
      this.#next = Number.POSITIVE_INFINITY;
      this.#check();
    });
  }

  #check(): void {
    const { world, history } = this.#cluster;
    const now = world.clock.monotonic();
    const due = targetsOf(history).filter(({ id }) => now - (this.#waiting.get(id)?.since ?? now) >= patienceMs);
    const objects = objectsOf(history);
    // Objects without an explanation come first.
    const first = due.toSorted((a, b) => Number(this.#waiting.get(a.id)?.reported !== '') - Number(this.#waiting.get(b.id)?.reported !== ''));
    for (const { id, target, about } of first.slice(0, mostReasons)) {
      const explanation = explain(target, objects, world.clock.now());
      const waiting = this.#waiting.get(id);
      if (explanation.verdict === 'fine' || explanation.verdict === 'absent' || waiting === undefined) continue;
      const what = reasonOf(explanation);
      // A change of times and counts alone is not reported.
      const reported = what.replace(/\d+/g, '#');
      if (waiting.reported === reported) continue;
      waiting.reported = reported;
      this.#timeline.add({ at: now - this.#begin, type: 'why', who: explanation.verdict === 'stuck' ? 'stuck' : 'waits', about, what });
    }
    this.#checkAgain();
  }

  /** Soon for objects that began to wait meanwhile; later for the others, since explanations also depend on time. */
  #checkAgain(): void {
    const now = this.#cluster.world.clock.monotonic();
    const waiting = [...this.#waiting.values()];
    if (waiting.some(({ since }) => now - since < patienceMs)) this.#plan(now + patienceMs);
    else if (waiting.length > 0) this.#plan(now + againMs);
  }
}

/** The summary, the nearest miss, and the fix or the next step. */
function reasonOf({ summary, next, verdict, candidates, fixes }: ObjectExplanation): string {
  const [nearest] = candidates;
  const miss =
    nearest === undefined || nearest.refusals.length === 0 ? '' : ` Nearest: ${nearest.name}: ${nearest.refusals.map(({ text }) => text).join('; ')}.`;
  const [fix] = fixes;
  const help = verdict === 'stuck' && fix !== undefined ? ` Fix: ${fix.text}.` : '';
  const step = verdict === 'waiting' && next.who !== nothingToDo.who ? ` Next: ${next.who} ${next.does}.` : '';
  return `${summary}${miss}${help}${step}`.replace(/\.{2,}/g, '.');
}

interface Waiting {
  readonly id: string;
  readonly target: Target;
  readonly about: string;
}

function targetsOf(history: ObjectHistory): readonly Waiting[] {
  const claims = history.all(persistentVolumeClaimKind).filter(({ metadata, status }) => status.phase !== 'Bound' || metadata.deletionTimestamp !== undefined);
  const volumes = history.all(persistentVolumeKind).filter(({ metadata, status }) => isLeftOver(status.phase) || metadata.deletionTimestamp !== undefined);
  const pods = history.all(podKind).filter((pod) => pod.status.phase === 'Pending' || (pod.metadata.deletionTimestamp !== undefined && !hasEnded(pod)));
  return [...claims, ...volumes, ...pods].map((object) => {
    const { name, namespace = '', uid, deletionTimestamp } = object.metadata;
    const kind = object.kind === 'Pod' ? 'pod' : object.kind === 'PersistentVolume' ? 'pv' : 'pvc';
    const state = deletionTimestamp === undefined ? (object.status.phase ?? '') : 'Terminating';
    return { id: `${uid} ${state}`, target: { kind, name, ...(kind === 'pv' ? {} : { namespace }) }, about: nameOf(object) };
  });
}

const isLeftOver = (phase: string | undefined): boolean => phase === 'Released' || phase === 'Failed';

export function objectsOf(history: ObjectHistory): ClusterObjects {
  const pods = history.all(podKind);
  return {
    claims: history.all(persistentVolumeClaimKind),
    volumes: history.all(persistentVolumeKind),
    classes: history.all(storageClassKind),
    pods,
    nodes: history.all(nodeKind),
    attachments: history.all(volumeAttachmentKind),
    drivers: history.all(csiDriverKind),
    csiNodes: history.all(csiNodeKind),
    placed: pods.filter((pod) => (pod.spec.nodeName ?? '') !== '' && !hasEnded(pod)),
    namespaces: history.all(namespaceKind),
    capacities: history.all(csiStorageCapacityKind),
    intents: history.all(volumeIntentKind),
    nodePools: history.all(nodePoolKind),
    nodeClaims: history.all(nodeClaimKind),
    unseen: [],
  };
}
