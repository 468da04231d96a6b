import type { Prng } from '../../world/prng.ts';
import type { Fault } from './faults.ts';
import type { DataSourceChoice, TimedAction, UserAction } from './user-actions.ts';

export interface HostileEpisode {
  readonly actions: readonly TimedAction[];
  readonly faults: readonly Fault[];
}

export interface EpisodeDraw {
  readonly random: Prng;
  /** When it begins. */
  readonly at: number;
  readonly claim: string;
}

type Episode = (draw: EpisodeDraw) => HostileEpisode;

/** In half of the worlds: what users should not do, or what goes wrong for them in one particular way. From a generator of its own. */
export function drawHostileEpisode(random: Prng, { endMs }: { readonly endMs: number }): HostileEpisode {
  const [isDrawn, number] = [random.chance(0.5), random.below(episodes.length)];
  const draw = { random, at: random.below(endMs / 2), claim: `claim-${1 + random.below(3)}` };
  return (isDrawn ? episodes[number]?.(draw) : undefined) ?? { actions: [], faults: [] };
}

const sources: readonly DataSourceChoice[] = ['claim', 'snapshot', 'backup'];

/** One step after the other, with pauses of up to `pauseMs`. */
export function steps({ random, at }: EpisodeDraw, pauseMs: number, list: readonly (readonly [TimedAction['who'], UserAction])[]): readonly TimedAction[] {
  let time = at;
  return list.map(([who, action]) => ({ at: (time += random.below(pauseMs)), who, action }));
}

const episodes: readonly Episode[] = [
  // A claim wants to be filled, and a pod waits for it.
  (draw) => {
    const name = `filled-${draw.claim}`;
    const storageClass = draw.random.chance(0.5) ? 'fast' : 'late';
    const from = sources[draw.random.below(sources.length)] ?? 'claim';
    return {
      actions: steps(draw, 8_000, [
        ['user', { do: 'create-claim', name, sizeGi: 1, storageClass, mode: 'ReadWriteOnce', from }],
        ['user', { do: 'create-pod', name: `pod-of-${name}`, claims: [name] }],
        ['user', { do: 'label-claim', name, value: 'waits' }],
        ['user', { do: 'delete-pod', name: `pod-of-${name}`, atOnce: false }],
      ]),
      faults: [],
    };
  },
  // Another client fakes the scrub of a volume, before, during and after the real one.
  (draw) => {
    const volume = 'scrubbed';
    const plain = (name: string): UserAction => ({ do: 'create-claim', name, sizeGi: 1, storageClass: '', mode: 'ReadWriteOnce', volume });
    const forged = (): UserAction => ({ do: 'forge-recycler-pod', volume, replaces: draw.random.chance(0.7), ends: draw.random.chance(0.4) });
    const attempts = Array.from({ length: 2 + draw.random.below(3) }, (): UserAction => (draw.random.chance(0.7) ? forged() : { do: 'forge-success', volume }));
    return {
      actions: [
        ...steps(draw, 3_000, [
          ['user', { do: 'create-volume', name: volume, sizeGi: 1, reclaim: 'Recycle' }],
          ['user', plain('scrubbed-claim')],
          ['user', { do: 'delete-claim', name: 'scrubbed-claim' }],
          ['user', plain('next-claim')],
        ]),
        ...steps(
          { ...draw, at: draw.at + 1_000 },
          4_000,
          attempts.map((action) => ['intruder', action] as const),
        ),
      ],
      faults: [],
    };
  },
  // A claim requests much, then less, while the backend expands its disk without an answer.
  (draw) => {
    const name = `grown-${draw.claim}`;
    return {
      actions: steps(draw, 4_000, [
        ['user', { do: 'create-claim', name, sizeGi: 1, storageClass: 'fast', mode: 'ReadWriteOnce' }],
        ['user', { do: 'label-claim', name, value: 'grows' }],
        ['user', { do: 'resize-claim', name, sizeGi: 8 }],
        ['user', { do: 'resize-claim', name, sizeGi: 3 }],
      ]),
      faults: Array.from({ length: 6 }, (_, i): Fault => ({ kind: 'backend-fails', at: draw.at + 6_000 + i * 2_000, calls: 1, moment: 'after' })),
    };
  },
  // The answers to the scheduler get lost while pods come and go.
  (draw) => ({
    actions: steps(
      draw,
      2_000,
      ['a', 'b', 'c', 'd'].map((name): readonly [TimedAction['who'], UserAction] => ['user', { do: 'create-pod', name: `passing-${name}`, claims: [] }]),
    ),
    faults: [{ kind: 'lossy', at: draw.at, component: 'scheduler-1', forMs: 12_000 }],
  }),
  // A StatefulSet is scaled down and up while its pods run.
  (draw) => ({
    actions: steps(draw, 9_000, [
      ['user', { do: 'create-stateful-set', name: 'log', replicas: 2, storageClass: 'fast', deletesClaims: false }],
      ['user', { do: 'label-claim', name: draw.claim, value: 'later' }],
      ['user', { do: 'scale-stateful-set', name: 'log', replicas: 1 }],
      ['user', { do: 'scale-stateful-set', name: 'log', replicas: 2 }],
    ]),
    faults: [],
  }),
];
