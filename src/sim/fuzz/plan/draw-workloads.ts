import type { Prng } from '../../world/prng.ts';
import { actionsEndMs } from './draw-actions.ts';
import { type FuzzSettings, nodeName } from './plan.ts';
import type { TimedAction, UserAction } from './user-actions.ts';
import type { Placement } from './workload-actions.ts';

interface WorkloadDraw {
  readonly random: Prng;
  readonly settings: FuzzSettings;
}

type Lifecycle = (draw: WorkloadDraw) => readonly UserAction[];

/** In six worlds of ten: DaemonSets, Deployments without claims, Jobs and CronJobs, which are changed and deleted. From a generator of its own. */
export function drawWorkloads(random: Prng, settings: FuzzSettings): readonly TimedAction[] {
  if (random.chance(0.4)) return [];
  const draw = { random, settings };
  const lifecycles = settings.confluent ? confluentLifecycles : [...confluentLifecycles, ...wildLifecycles];
  const first = random.below(lifecycles.length);
  const chosen = [first, (first + 1 + random.below(lifecycles.length - 1)) % lifecycles.length].slice(0, 1 + random.below(2));
  return chosen.flatMap((number) => inTime(draw, lifecycles[number]?.(draw) ?? []));
}

/** One step after the other, some of them in quick succession. */
function inTime({ random }: WorkloadDraw, steps: readonly UserAction[]): readonly TimedAction[] {
  let at = random.below(actionsEndMs / 4);
  return steps.map((action) => ({ at: Math.min(actionsEndMs - 1, (at += random.below(random.chance(0.5) ? 2_000 : 15_000))), who: 'developer', action }));
}

const maybe = <T>({ random }: WorkloadDraw, chance: number, ...all: readonly T[]): readonly T[] => (random.chance(chance) ? all : []);

/** Ends that depend neither on the order nor on lost nodes. */
const confluentLifecycles: readonly Lifecycle[] = [
  // A DaemonSet gets one template after the other, and keeps few revisions.
  (draw) => {
    const name = 'agent';
    const updates = Array.from(
      { length: 2 + draw.random.below(3) },
      (_, i): UserAction => ({ do: 'update-workload', kind: 'DaemonSet', name, version: i + 1 }),
    );
    return [
      { do: 'create-daemon-set', name, keeps: draw.random.below(2) },
      ...maybe<UserAction>(draw, 0.5, { do: 'touch-workload', kind: 'DaemonSet', name }),
      ...updates,
      // An old template again.
      ...maybe<UserAction>(draw, 0.5, { do: 'update-workload', kind: 'DaemonSet', name, version: 1 }),
      ...maybe<UserAction>(draw, 0.3, { do: 'delete-workload', kind: 'DaemonSet', name }),
    ];
  },
  // A Deployment is scaled and gets other templates.
  (draw) => {
    const { random, settings } = draw;
    const name = 'site';
    // One node may be lost for good, and one more pod than replicas may wait for a node.
    const placements: readonly Placement[] = settings.nodes > 2 ? ['any', 'apart', 'together', 'spread'] : ['any', 'together', 'spread'];
    return [
      { do: 'create-server', name, replicas: 1 + random.below(2), placement: placements[random.below(placements.length)] ?? 'any' },
      ...maybe<UserAction>(draw, 0.5, { do: 'touch-workload', kind: 'Deployment', name }),
      { do: 'update-workload', kind: 'Deployment', name, version: 1 },
      { do: 'scale-server', name, replicas: 1 + random.below(2) },
      ...maybe<UserAction>(draw, 0.5, { do: 'update-workload', kind: 'Deployment', name, version: 2 + random.below(2) }),
      ...maybe<UserAction>(draw, 0.5, { do: 'update-workload', kind: 'Deployment', name, version: 1 }),
      ...maybe<UserAction>(draw, 0.3, { do: 'delete-workload', kind: 'Deployment', name }),
    ];
  },
  // A suspended CronJob starts nothing.
  (draw) => [
    { do: 'create-cron-job', name: 'idle', suspended: true },
    ...maybe<UserAction>(draw, 0.5, { do: 'suspend-cron-job', name: 'idle', suspended: true }),
  ],
  // Pods mount a ConfigMap that may be missing, or lack a key.
  (draw) => {
    const { random } = draw;
    const isThere = random.chance(0.7);
    return [
      ...(isThere ? [{ do: 'create-config-map', name: 'settings', keys: random.chance(0.5) ? ['a'] : ['a', 'b'] } as const] : []),
      { do: 'create-server', name: 'reader', replicas: 1, placement: 'any', config: { map: 'settings', key: 'b', optional: true } },
      ...maybe<UserAction>(draw, 0.5, { do: 'update-workload', kind: 'Deployment', name: 'reader', version: 1 }),
      ...maybe<UserAction>(draw, 0.3, { do: 'delete-workload', kind: 'ConfigMap', name: 'settings' }),
    ];
  },
];

const wildLifecycles: readonly Lifecycle[] = [
  // Pods that stay apart, more than there are nodes, and that come and go while nodes are tainted.
  (draw) => {
    const { random, settings } = draw;
    const node = nodeName(1 + random.below(settings.nodes));
    return [
      { do: 'create-server', name: 'rivals', replicas: settings.nodes + random.below(2), placement: 'apart' },
      ...maybe<UserAction>(draw, 0.5, { do: 'taint', node }),
      { do: 'create-server', name: 'group', replicas: 2, placement: random.chance(0.5) ? 'together' : 'spread' },
      { do: 'scale-server', name: 'rivals', replicas: 1 + random.below(settings.nodes) },
      ...maybe<UserAction>(draw, 0.5, { do: 'update-workload', kind: 'Deployment', name: 'rivals', version: 1 }),
      { do: 'untaint', node },
    ];
  },
  // Jobs: one ends, one is deleted while it runs.
  (draw) => {
    const { random } = draw;
    return [
      { do: 'create-job', name: 'report', completions: 1 + random.below(3), parallelism: 1 + random.below(2) },
      { do: 'create-job', name: 'import', completions: 2, parallelism: 2 },
      ...maybe<UserAction>(draw, 0.5, { do: 'delete-workload', kind: 'Job', name: 'import', ...propagationOf(random) }),
      ...maybe<UserAction>(draw, 0.3, { do: 'create-job', name: 'import', completions: 1, parallelism: 1 }),
    ];
  },
  // A CronJob runs for a while.
  (draw) => [
    { do: 'create-cron-job', name: 'hourly', suspended: draw.random.chance(0.5) },
    { do: 'suspend-cron-job', name: 'hourly', suspended: false },
    { do: 'touch-workload', kind: 'Deployment', name: 'site' },
    draw.random.chance(0.5)
      ? { do: 'suspend-cron-job', name: 'hourly', suspended: true }
      : { do: 'delete-workload', kind: 'CronJob', name: 'hourly', ...propagationOf(draw.random) },
  ],
  // Owners are deleted in each way, and created again under their names.
  (draw) => {
    const { random } = draw;
    const create: UserAction = { do: 'create-server', name: 'brief', replicas: 2, placement: 'any' };
    const remove = (): UserAction => ({ do: 'delete-workload', kind: 'Deployment', name: 'brief', ...propagationOf(random) });
    return [create, remove(), create, remove(), ...maybe<UserAction>(draw, 0.5, create), ...maybe<UserAction>(draw, 0.3, remove())];
  },
  // A budget keeps pods while nodes are drained.
  (draw) => {
    const node = nodeName(1 + draw.random.below(draw.settings.nodes));
    return [
      { do: 'create-server', name: 'guarded', replicas: 2, placement: 'spread' },
      { do: 'create-budget', name: 'guarded', least: 1 + draw.random.below(2) },
      { do: 'drain', node },
      { do: 'scale-server', name: 'guarded', replicas: 1 + draw.random.below(3) },
      { do: 'uncordon', node },
      ...maybe<UserAction>(draw, 0.3, { do: 'delete-workload', kind: 'PodDisruptionBudget', name: 'guarded' }),
    ];
  },
];

function propagationOf(random: Prng): { readonly propagation?: 'Orphan' | 'Foreground' } {
  const number = random.below(3);
  return number === 0 ? {} : { propagation: number === 1 ? 'Orphan' : 'Foreground' };
}
