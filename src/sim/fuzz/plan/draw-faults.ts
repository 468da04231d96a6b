import type { Prng } from '../../world/prng.ts';
import { controllersName, nodeName, componentNames, type FuzzSettings } from './plan.ts';
import { actionsEndMs } from './draw-actions.ts';
import type { Fault, EffectMoment, NetworkFaultKind } from './faults.ts';

/** Each seed has a few kinds of faults, rather than a little of everything: that finds more bugs. */
export function drawFaults(random: Prng, settings: FuzzSettings): readonly Fault[] {
  const components = componentNames(settings);
  const draw: Draw = {
    random,
    settings,
    component: () => components[random.below(components.length)] ?? '',
    at: () => random.below(actionsEndMs),
    moment: () => (random.chance(0.5) ? 'before' : 'after'),
  };
  const kinds = Array.from({ length: 1 + random.below(4) }, () => drawers[random.below(drawers.length)]);
  const faults = kinds.flatMap((drawer) => Array.from({ length: 1 + random.below(4) }, () => drawer?.(draw) ?? []).flat());
  return faults.sort((a, b) => a.at - b.at);
}

interface Draw {
  readonly random: Prng;
  readonly settings: FuzzSettings;
  readonly component: () => string;
  readonly at: () => number;
  readonly moment: () => EffectMoment;
}

type Drawer = (draw: Draw) => Fault | readonly Fault[];

const networkFault =
  (kind: NetworkFaultKind): Drawer =>
  ({ random, component, at }) => ({ kind, at: at(), component: component(), forMs: 5_000 + random.below(60_000) });

const crash: Drawer = ({ random, component, at, moment }) => ({
  kind: 'crash',
  at: at(),
  component: component(),
  writes: random.below(8),
  moment: moment(),
  backMs: random.below(25_000),
});

const drawers: readonly Drawer[] = [
  crash,
  crash,
  crash,
  ({ random, at, moment }) => ({ kind: 'crash-in-driver', at: at(), calls: random.below(3), moment: moment(), backMs: random.below(25_000) }),
  ({ random, at, moment }) => ({ kind: 'crash-in-driver', at: at(), calls: random.below(3), moment: moment(), backMs: random.below(25_000) }),
  ({ random, at }) => ({ kind: 'server-crash', at: at(), how: random.chance(0.5) ? 'power' : 'killed', backMs: random.below(20_000) }),
  ({ random, at, settings }) => (settings.store === 'embedded' ? { kind: 'disk-full', at: at(), forMs: random.below(20_000) } : []),
  networkFault('slow'),
  networkFault('lossy'),
  networkFault('cuts'),
  networkFault('stale'),
  networkFault('twice'),
  networkFault('conflicts'),
  networkFault('bad'),
  networkFault('silence'),
  ({ random, at, moment }) => ({ kind: 'backend-fails', at: at(), calls: 1 + random.below(4), moment: moment() }),
  ({ random, at }) => ({ kind: 'backend-slow', at: at(), forMs: 5_000 + random.below(60_000), delayMs: 1_000 + random.below(10_000) }),
  ({ random, component }) => {
    const name = component();
    // Pods end by the clocks of their nodes: a skew of hours would only take time.
    const mostMs = name.startsWith('node-') ? 30_000 : 3_600_000;
    return { kind: 'clock', at: 0, component: name, rate: [0.5, 1, 2][random.below(3)] ?? 1, aheadMs: random.below(2 * mostMs) - mostMs };
  },
  ({ random, at, settings }) => {
    const number = 1 + random.below(settings.nodes);
    // At most one node is lost for good: without nodes, nothing runs.
    const isForGood = number === 1 && random.chance(0.5);
    return { kind: 'node-loss', at: at(), component: nodeName(number), ...(isForGood ? {} : { backMs: random.below(120_000) }) };
  },
];

/** Faults of the whole cluster, in some worlds. From a generator of their own. */
export function drawGlobalFaults(random: Prng, settings: FuzzSettings): readonly Fault[] {
  const components = componentNames(settings);
  const compactions = random.chance(0.4) ? Array.from({ length: 2 + random.below(6) }, () => random.below(actionsEndMs)) : [];
  const powerCut: readonly Fault[] = random.chance(0.1) ? [{ kind: 'power-cut', at: random.below(20_000), forMs: 60_000 + random.below(90_000) }] : [];
  // Longer than a lease lasts, mostly.
  const pauses = Array.from({ length: random.chance(0.3) ? 1 + random.below(3) : 0 }, (): Fault => {
    const component = random.chance(0.6) ? controllersName(1 + random.below(settings.leaders)) : (components[random.below(components.length)] ?? '');
    return { kind: 'pause', at: random.below(40_000), component, writes: random.below(4), forMs: 20_000 + random.below(60_000) };
  });
  const slowDisk = settings.store === 'embedded' && random.below(4) === 3 ? drawSlowDisk(random) : [];
  return [...compactions.map((at): Fault => ({ kind: 'compaction', at })), ...powerCut, ...pauses, ...slowDisk];
}

/** The power fails during slow writes: only what was not acknowledged may be lost. */
function drawSlowDisk(random: Prng): readonly Fault[] {
  const [at, forMs] = [random.below(60_000), 10_000 + random.below(20_000)];
  return [
    { kind: 'disk-slow', at, forMs, delayMs: 3_000 + random.below(5_000) },
    { kind: 'server-crash', at: at + random.below(forMs), how: 'power', backMs: random.below(10_000) },
  ];
}

/** In some worlds, damage of the store's disk. From a generator of its own. */
export function drawDamage(random: Prng, { store }: FuzzSettings): readonly Fault[] {
  if (store !== 'embedded' || random.chance(0.75)) return [];
  return [{ kind: 'disk-damage', at: 5_000 + random.below(actionsEndMs - 5_000), permille: random.below(1000), bit: random.below(8) }];
}
