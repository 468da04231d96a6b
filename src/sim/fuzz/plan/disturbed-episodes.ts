import type { Prng } from '../../world/prng.ts';
import type { Fault } from './faults.ts';
import { type EpisodeDraw, type HostileEpisode, steps } from './hostile-episodes.ts';
import { controllersName, type FuzzSettings, nodeName, schedulerName } from './plan.ts';
import type { TimedAction, UserAction } from './user-actions.ts';

interface DisturbedDraw extends EpisodeDraw {
  readonly settings: FuzzSettings;
}

type Episode = (draw: DisturbedDraw) => HostileEpisode;

/** In four worlds of ten: pods that compete for a node, or caches that are old for long, with the faults that it takes. From a generator of its own. */
export function drawDisturbedEpisode(random: Prng, settings: FuzzSettings, { endMs }: { readonly endMs: number }): HostileEpisode {
  const [isDrawn, number] = [random.chance(0.4), random.below(episodes.length)];
  const draw = { random, at: random.below(endMs / 4), claim: `claim-${1 + random.below(3)}`, settings };
  return (isDrawn ? episodes[number]?.(draw) : undefined) ?? { actions: [], faults: [] };
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i + 1);

/** Of each process that may lead. */
const ofEach = (name: (number: number) => string, { settings }: DisturbedDraw, fault: (component: string) => Fault): readonly Fault[] =>
  upTo(settings.leaders).map((number) => fault(name(number)));

const byUser = (action: UserAction): readonly [TimedAction['who'], UserAction] => ['user', action];
const byAdmin = (action: UserAction): readonly [TimedAction['who'], UserAction] => ['admin', action];

/** More than half of a node. */
const mostOfNode = 5;

const episodes: readonly Episode[] = [
  // Every node has a pod, and a pod of higher priority wants such a place. The scheduler pauses amid the preemption, and the pods are replaced by others of the same names.
  (draw) => {
    const { random, at, settings } = draw;
    const names = upTo(settings.nodes).map((number) => `settled-${number}`);
    const create = names.map((name): UserAction => ({ do: 'create-pod', name, claims: [], cpu: mostOfNode }));
    const remove = names.map((name): UserAction => ({ do: 'delete-pod', name, atOnce: true }));
    const preempts = at + 8_000 + random.below(4_000);
    const [writes, forMs] = [random.below(3), 4_000 + random.below(12_000)];
    return {
      actions: [
        ...steps(draw, 1_000, create.map(byUser)),
        ...steps({ ...draw, at: preempts }, 1, [
          byUser({ do: 'create-pod', name: 'urgent', claims: random.chance(0.5) ? [] : [draw.claim], cpu: mostOfNode, critical: true }),
        ]),
        ...(random.chance(0.7) ? steps({ ...draw, at: preempts + 1_000 }, 300, [...remove, ...create].map(byAdmin)) : []),
        ...steps({ ...draw, at: preempts + 20_000 }, 10_000, [byUser({ do: 'delete-pod', name: 'urgent', atOnce: false })]),
      ],
      faults: ofEach(schedulerName, draw, (component) => ({ kind: 'pause', at: preempts - 1, component, writes, forMs })),
    };
  },
  // More pods than there is room for, while most requests and answers of the scheduler get lost.
  (draw) => {
    const { random, settings } = draw;
    const names = upTo(settings.nodes + 2).map((number) => `crowded-${number}`);
    const create = names.map((name): UserAction => ({ do: 'create-pod', name, claims: [], cpu: mostOfNode }));
    const remove = names.slice(0, 2).map((name): UserAction => ({ do: 'delete-pod', name, atOnce: random.chance(0.5) }));
    return {
      actions: [...steps(draw, 1_000, create.map(byUser)), ...steps({ ...draw, at: draw.at + 12_000 }, 6_000, [...remove, ...create.slice(0, 2)].map(byUser))],
      faults: ofEach(schedulerName, draw, (component) => ({ kind: 'unreliable', at: draw.at, component, forMs: 40_000 })),
    };
  },
  // The controllers hear nothing of nodes while a pod gets a volume and is deleted by force; its node is slow to let the volume go.
  (draw) => {
    const { random, at, settings } = draw;
    const name = `held-${draw.claim}`;
    const pod: UserAction = { do: 'create-pod', name: `pod-of-${name}`, claims: [name] };
    const removed = at + 30_000 + random.below(8_000);
    return {
      actions: [
        ...steps({ ...draw, at: at + 1_000 }, 2_000, [
          byUser({ do: 'create-claim', name, sizeGi: 1, storageClass: random.chance(0.5) ? 'fast' : 'late', mode: 'ReadWriteOnce' }),
          byUser(pod),
        ]),
        ...steps({ ...draw, at: removed }, 1, [byAdmin({ do: 'delete-pod', name: `pod-of-${name}`, atOnce: true })]),
        ...steps({ ...draw, at: removed + 5_000 }, 20_000, [byUser(pod)]),
      ],
      faults: [
        ...ofEach(controllersName, draw, (component) => ({ kind: 'stale-nodes', at, component, forMs: 45_000 })),
        ...upTo(settings.nodes).map((number): Fault => ({ kind: 'slow', at: removed - 2_000, component: nodeName(number), forMs: 12_000 })),
      ],
    };
  },
];
