import type { Pod } from '../../api/generated/types.ts';
import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { secretKind } from '../../api/kinds/core/secret.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Controller, source, Trigger } from '../../client/controller/loop.ts';
import { type Change, keyOf } from '../../client/informers/cache.ts';
import { dependency, freedCapacity } from '../cache/indexes.ts';
import type { PodActivity } from '../contract.ts';
import type { PodWorkerAction } from './actions.ts';
import type { PodsContext } from './context.ts';
import { decidePod, type PodWorkerSnapshot } from './decide.ts';
import { PodSnapshots } from './pod-snapshots.ts';

export interface PodsController {
  readonly controller: Controller<string, PodWorkerSnapshot, PodWorkerAction>;
  readonly activity: PodActivity;
  /** Finds the pods that the runtime has already. Before the controller runs, and before any volume is unmounted. */
  recover(): Promise<void>;
  stop(): void;
}

/** Runs the pods of one or many nodes. Keys are 'namespace/name'. */
export function podsController(context: PodsContext): PodsController {
  const { runtime, volumes, caches } = context;
  const trigger = new Trigger<string>();
  const snapshots = new PodSnapshots(context, (uid) => trigger.fire(snapshots.keyOfUid(uid)));
  // Before the loop: an address is free again when other pods are enqueued because a pod is gone.
  caches.pods.subscribe((change) => snapshots.podChanged(change));
  runtime.observe((uid) => {
    snapshots.runtimeChanged(uid);
    trigger.fire(snapshots.keyOfUid(uid));
  });
  volumes.subscribe((uid) => trigger.fire(snapshots.keyOfUid(uid)));
  const waitingFor = (what: string) => caches.waitingPods.get(what).flatMap((pod) => (caches.hostOf(pod) === undefined ? [] : keyOf(pod.metadata)));
  const keyed = ({ before, after }: Change<KubeObject>) => keyOf((after ?? before)?.metadata ?? {});
  const isHere = ({ before, after }: Change<Pod>) => [before, after].some((pod) => pod !== undefined && caches.hostOf(pod) !== undefined);
  return {
    controller: {
      name: 'pods',
      parallelism: 128,
      sources: [
        trigger,
        // Pods that only the runtime knows: no change of a pod leads to them.
        {
          subscribe: (_, add) => {
            for (const key of snapshots.keysInRuntime()) add(key);
            return () => undefined;
          },
        },
        // Also if the pod of this name is on another agent's node now: the runtime still has the earlier one.
        source(podKind, (change) => (isHere(change) ? [keyed(change), ...freedCapacity(change).flatMap(waitingFor)] : [])),
        source(configMapKind, (change) => waitingFor(dependency.configMap(keyed(change)))),
        source(secretKind, (change) => waitingFor(dependency.secret(keyed(change)))),
      ],
      snapshot: (key) => snapshots.snapshot(key),
      decide: decidePod,
      perform: (action) => snapshots.worker.perform(action),
    },
    activity: { mayRun: (uid) => snapshots.mayRun(uid) },
    recover: () => snapshots.recover(),
    stop: () => snapshots.stop(),
  };
}
