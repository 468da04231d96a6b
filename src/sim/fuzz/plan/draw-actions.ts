import type { Prng } from '../../world/prng.ts';
import { nodeName, type FuzzSettings } from './plan.ts';
import type { AccessMode, UserAction, TimedAction, ReclaimPolicy, VolumeChoice } from './user-actions.ts';

/** All actions happen before this time; then the faults stop. */
export const actionsEndMs = 90_000;

/** Users create, resize, delete, re-create and edit objects, administrators change StorageClasses, autoscalers remove nodes: in any order. */
export function drawActions(random: Prng, settings: FuzzSettings): readonly TimedAction[] {
  const draw = new Draw(random, settings);
  const drawn = settings.confluent ? drawConfluent(draw) : drawWild(draw);
  drawn.sort((a, b) => a.at - b.at);
  return [...classes(settings, random), ...drawn];
}

function drawWild(draw: Draw): TimedAction[] {
  return Array.from({ length: 8 + draw.random.below(14) }, () => ({ at: draw.random.below(actionsEndMs), ...draw.of(...wildDrawers)(draw) }));
}

const classes = ({ confluent }: FuzzSettings, random: Prng): readonly TimedAction[] => [
  { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
  { at: 0, who: 'admin', action: { do: 'create-class', name: 'late', reclaim: confluent || random.chance(0.5) ? 'Delete' : 'Retain', waits: true } },
];

type Drawer = (draw: Draw) => Omit<TimedAction, 'at'>;

const user = (action: UserAction): Omit<TimedAction, 'at'> => ({ who: 'user', action });
const admin = (action: UserAction): Omit<TimedAction, 'at'> => ({ who: 'admin', action });

/** Few names, so that actions concern the same objects. */
class Draw {
  readonly random: Prng;
  readonly settings: FuzzSettings;
  #volumes = 0;

  constructor(random: Prng, settings: FuzzSettings) {
    this.random = random;
    this.settings = settings;
  }

  of<T>(...choices: readonly [T, ...T[]]): T {
    return choices[this.random.below(choices.length)] ?? choices[0];
  }

  claim(): string {
    return `claim-${1 + this.random.below(3)}`;
  }

  node(): string {
    return nodeName(1 + this.random.below(this.settings.nodes));
  }

  newVolume(): string {
    return `volume-${++this.#volumes}`;
  }

  volume(): string {
    return `volume-${1 + this.random.below(Math.max(1, this.#volumes))}`;
  }

  mode(): AccessMode {
    return this.of('ReadWriteOnce', 'ReadWriteOnce', 'ReadWriteOncePod');
  }
}

/**
 * Actions whose end does not depend on the order in which the cluster processes them: every claim has its own name and a class that can
 * provision it, is deleted only after its users, and every pod has a controller that replaces it.
 */
function drawConfluent(draw: Draw): TimedAction[] {
  const units = Array.from({ length: 2 + draw.random.below(3) }, (_, i) => draw.of(appLifecycle, appLifecycle, claimLifecycle, databaseLifecycle)(draw, i + 1));
  const moves = Array.from({ length: draw.random.below(4) }, () => ({
    at: draw.random.below(actionsEndMs),
    ...admin({ do: draw.of('cordon', 'drain', 'uncordon'), node: draw.node() }),
  }));
  const last = Array.from({ length: draw.settings.nodes }, (_, i) => ({ at: actionsEndMs, ...admin({ do: 'uncordon', node: nodeName(i + 1) }) }));
  return [...units.flat(), ...moves, ...last];
}

/** The first steps of a lifecycle, as many as are drawn. */
function lifecycle(draw: Draw, steps: readonly UserAction[]): TimedAction[] {
  const lived = steps.slice(0, 2 + draw.random.below(steps.length - 1));
  const times = lived.map(() => draw.random.below(actionsEndMs)).sort((a, b) => a - b);
  return lived.map((action, i) => ({ at: times[i] ?? 0, ...user(action) }));
}

const newClaim = (draw: Draw, name: string, storageClass: string): UserAction => ({
  do: 'create-claim',
  name,
  sizeGi: 1 + draw.random.below(3),
  storageClass,
  mode: 'ReadWriteOnce',
});

function appLifecycle(draw: Draw, number: number): TimedAction[] {
  const [name, claim] = [`app-${number}`, `data-${number}`];
  const storageClass = draw.of('fast', 'late');
  const made: readonly UserAction[] = [newClaim(draw, claim, storageClass), { do: 'create-deployment', name, replicas: 1, claim }];
  const eitherFirst = draw.random.chance(0.5) ? made : made.toReversed();
  // Whether a WaitForFirstConsumer claim was ever bound depends on when its last pod goes: here the pod stays.
  if (storageClass === 'late') return lifecycle(draw, [...eitherFirst, { do: 'label-claim', name: claim, value: 'yes' }]);
  return lifecycle(draw, [
    ...eitherFirst,
    { do: 'scale-deployment', name, replicas: draw.random.below(2) },
    { do: 'label-claim', name: claim, value: 'yes' },
    { do: 'scale-deployment', name, replicas: draw.random.below(2) },
    { do: 'delete-deployment', name },
    { do: 'delete-claim', name: claim },
  ]);
}

function claimLifecycle(draw: Draw, number: number): TimedAction[] {
  const name = `lonely-${number}`;
  return lifecycle(draw, [newClaim(draw, name, draw.of('fast', 'late')), { do: 'label-claim', name, value: 'yes' }, { do: 'delete-claim', name }]);
}

function databaseLifecycle(draw: Draw, number: number): TimedAction[] {
  const name = `db-${number}`;
  return lifecycle(draw, [
    // Which claims stay behind would depend on how far the set got.
    { do: 'create-stateful-set', name, replicas: 1 + draw.random.below(2), storageClass: draw.of('fast', 'late'), deletesClaims: true },
    { do: 'scale-stateful-set', name, replicas: draw.random.below(3) },
    { do: 'scale-stateful-set', name, replicas: draw.random.below(3) },
    { do: 'delete-stateful-set', name },
  ]);
}

const policies: readonly [ReclaimPolicy, ...ReclaimPolicy[]] = ['Delete', 'Retain', 'Recycle'];

/** Actions whose end depends on the order. */
const wildDrawers: readonly [Drawer, ...Drawer[]] = [
  (d) => user({ do: 'create-claim', name: d.claim(), sizeGi: 1 + d.random.below(3), storageClass: d.of('fast', 'late', ''), mode: d.mode() }),
  (d) => user({ do: 'create-claim', name: d.claim(), sizeGi: 1 + d.random.below(3), storageClass: d.of('fast', 'late', ''), mode: d.mode() }),
  (d) => podOf(d.claim()),
  (d) => podOf(d.claim()),
  (d) => user({ do: 'delete-pod', name: `pod-of-${d.claim()}`, atOnce: d.random.chance(0.2) }),
  (d) => user({ do: 'delete-claim', name: d.claim() }),
  (d) => user({ do: 'delete-claim', name: d.claim() }),
  (d) => user({ do: 'label-claim', name: d.claim(), value: String(d.random.below(100)) }),
  (d) =>
    user({ do: 'create-stateful-set', name: 'db', replicas: 1 + d.random.below(2), storageClass: d.of('fast', 'late'), deletesClaims: d.random.chance(0.5) }),
  (d) => user({ do: 'scale-stateful-set', name: 'db', replicas: d.random.below(3) }),
  () => user({ do: 'delete-stateful-set', name: 'db' }),
  (d) => user({ do: 'create-deployment', name: 'web', replicas: 1 + d.random.below(2), claim: d.claim() }),
  (d) => user({ do: 'scale-deployment', name: 'web', replicas: d.random.below(3) }),
  () => user({ do: 'delete-deployment', name: 'web' }),
  (d) => admin({ do: d.of('cordon', 'uncordon', 'uncordon'), node: d.node() }),
  (d) => admin({ do: 'drain', node: d.node() }),
  (d) =>
    admin({
      do: 'create-volume',
      name: d.newVolume(),
      sizeGi: 1 + d.random.below(3),
      reclaim: d.of(...policies),
      ...(d.random.chance(0.4) ? { claim: d.claim() } : {}),
    }),
  (d) => admin({ do: 'create-volume', name: d.newVolume(), sizeGi: 1 + d.random.below(3), reclaim: d.of(...policies) }),
  (d) => admin({ do: 'delete-volume', of: d.of<VolumeChoice>({ volume: d.volume() }, { claim: d.claim() }) }),
  (d) => admin({ do: 'clear-claim-ref', of: { anyReleased: d.random.below(3) } }),
  (d) => admin({ do: 'set-policy', of: { claim: d.claim() }, reclaim: d.of('Delete', 'Retain') }),
  (d) => user({ do: 'create-claim', name: d.claim(), sizeGi: 1, storageClass: '', mode: 'ReadWriteOnce', volume: d.volume() }),
  (d) => user({ do: 'resize-claim', name: d.claim(), sizeGi: 2 + d.random.below(5) }),
  (d) => user({ do: 'create-pod', name: `pod-${1 + d.random.below(3)}`, claims: [...new Set([d.claim(), 'claim-1'])] }),
  (d) => user({ do: 'delete-pod', name: `pod-${1 + d.random.below(3)}`, atOnce: false }),
  (d) => admin({ do: 'delete-class', name: d.of('fast', 'late') }),
  (d) => admin({ do: 'create-class', name: d.of('fast', 'late'), reclaim: d.of('Delete', 'Retain'), waits: d.random.chance(0.5) }),
  (d) => ({ who: 'autoscaler', action: { do: 'remove-node', node: d.node(), backMs: d.random.below(60_000) } }),
];

const podOf = (claim: string): Omit<TimedAction, 'at'> => user({ do: 'create-pod', name: `pod-of-${claim}`, claims: [claim] });
