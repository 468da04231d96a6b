import type { Prng } from '../../world/prng.ts';
import type { UserAction, TimedAction } from './user-actions.ts';

type Step = { readonly who: TimedAction['who']; readonly action: UserAction; readonly afterMs: number };
type Episode = (cast: Cast) => readonly Step[];

/** Who plays in an episode: names that others use as well, so that episodes meet each other and everything else. */
interface Cast {
  readonly claim: string;
  readonly other: string;
  readonly volume: string;
  readonly node: string;
  readonly sizeGi: number;
  readonly class: 'fast' | 'late';
  readonly patience: () => number;
}

export interface EpisodesOptions {
  readonly nodeNames: readonly string[];
  readonly endMs: number;
}

/**
 * Stories of a few steps close to each other, as people live them: what only breaks if several things happen in a row hardly ever does if
 * each of them is drawn by itself.
 */
export function drawEpisodes(random: Prng, { nodeNames, endMs }: EpisodesOptions): TimedAction[] {
  return Array.from({ length: 1 + random.below(3) }, (_, number) =>
    drawEpisode(random, { nodeNames, endMs }, { volume: `shelf-${number}`, of: episodes }),
  ).flat();
}

/** In one world of four, one of those that came later: the draws of all others stay as they were. */
export function drawLaterEpisode(random: Prng, options: EpisodesOptions): TimedAction[] {
  return random.chance(0.25) ? drawEpisode(random, options, { volume: 'slot', of: laterEpisodes }) : [];
}

function drawEpisode(
  random: Prng,
  { nodeNames, endMs }: EpisodesOptions,
  { volume, of }: { readonly volume: string; readonly of: readonly Episode[] },
): TimedAction[] {
  const claims = ['claim-1', 'claim-2', 'claim-3'];
  const first = random.below(claims.length);
  const cast: Cast = {
    claim: claims[first] ?? '',
    other: claims[(first + 1) % claims.length] ?? '',
    volume,
    node: nodeNames[random.below(nodeNames.length)] ?? '',
    sizeGi: 1 + random.below(2),
    class: random.chance(0.6) ? 'fast' : 'late',
    patience: () => random.below(random.chance(0.5) ? 3_000 : 20_000),
  };
  const steps = of[random.below(of.length)]?.(cast) ?? [];
  let at = random.below(endMs / 3);
  return steps.map(({ who, action, afterMs }): TimedAction => ({ at: Math.min((at += afterMs), endMs), who, action }));
}

const script = (who: TimedAction['who'], cast: Cast, ...actions: readonly UserAction[]): readonly Step[] =>
  actions.map((action) => ({ who, action, afterMs: cast.patience() }));

const claimOf = ({ claim, sizeGi, class: storageClass }: Cast): UserAction => ({
  do: 'create-claim',
  name: claim,
  sizeGi,
  storageClass,
  mode: 'ReadWriteOnce',
});
const plainClaim = (name: string): UserAction => ({ do: 'create-claim', name, sizeGi: 1, storageClass: '', mode: 'ReadWriteOnce' });
const podOf = (claim: string): UserAction => ({ do: 'create-pod', name: `pod-of-${claim}`, claims: [claim] });
const deletePod = (claim: string, atOnce: boolean): UserAction => ({ do: 'delete-pod', name: `pod-of-${claim}`, atOnce });

const episodes: readonly Episode[] = [
  // A claim is deleted under its pod, and made again.
  (cast) =>
    script(
      'user',
      cast,
      claimOf(cast),
      podOf(cast.claim),
      { do: 'delete-claim', name: cast.claim },
      deletePod(cast.claim, false),
      claimOf(cast),
      podOf(cast.claim),
    ),
  // A claim comes back under its old name to a volume that was kept.
  (cast) =>
    script(
      'user',
      cast,
      { do: 'create-volume', name: cast.volume, sizeGi: cast.sizeGi, reclaim: 'Retain' },
      plainClaim(cast.claim),
      { do: 'delete-claim', name: cast.claim },
      plainClaim(cast.claim),
      plainClaim(cast.other),
    ),
  // A volume goes from hand to hand.
  (cast) =>
    script(
      'user',
      cast,
      { do: 'create-volume', name: cast.volume, sizeGi: cast.sizeGi, reclaim: 'Recycle' },
      plainClaim(cast.claim),
      { do: 'delete-claim', name: cast.claim },
      plainClaim(cast.other),
    ),
  // Somebody wants to keep the data after all.
  (cast) =>
    script('user', cast, claimOf(cast), podOf(cast.claim), { do: 'set-policy', of: { claim: cast.claim }, reclaim: 'Retain' }, deletePod(cast.claim, false), {
      do: 'delete-claim',
      name: cast.claim,
    }),
  // It moves from node to node.
  (cast) => [
    ...script('user', cast, claimOf(cast), { do: 'create-deployment', name: 'mover', replicas: 1, claim: cast.claim }),
    ...script('admin', cast, { do: 'drain', node: cast.node }, { do: 'uncordon', node: cast.node }),
  ],
  // It grows, twice.
  (cast) =>
    script(
      'user',
      cast,
      claimOf(cast),
      podOf(cast.claim),
      { do: 'resize-claim', name: cast.claim, sizeGi: 4 },
      { do: 'resize-claim', name: cast.claim, sizeGi: 7 },
    ),
  // A database that shrinks and grows.
  (cast) =>
    script(
      'user',
      cast,
      { do: 'create-stateful-set', name: 'ledger', replicas: 2, storageClass: cast.class, deletesClaims: false },
      { do: 'scale-stateful-set', name: 'ledger', replicas: 0 },
      { do: 'scale-stateful-set', name: 'ledger', replicas: 2 },
    ),
  // More than fits on a node, all at once.
  (cast) =>
    ['crowd-1', 'crowd-2', 'crowd-3', 'crowd-4'].flatMap((name): Step[] => [
      { who: 'user', action: { ...claimOf(cast), name } as UserAction, afterMs: 0 },
      { who: 'user', action: podOf(name), afterMs: 0 },
    ]),
  // The machine of a pod is lost; somebody deletes the pod by force, and makes another.
  (cast) => [
    ...script('user', cast, claimOf(cast), podOf(cast.claim)),
    { who: 'autoscaler', action: { do: 'switch-off', node: cast.node, backMs: 120_000 }, afterMs: 3_000 },
    ...script('user', cast, deletePod(cast.claim, true), podOf(cast.claim)),
  ],
  // A volume is deleted while somebody asks for one.
  (cast) => [
    ...script('admin', cast, { do: 'create-volume', name: cast.volume, sizeGi: 1, reclaim: 'Retain' }),
    { who: 'admin', action: { do: 'delete-volume', of: { volume: cast.volume } }, afterMs: 2_000 },
    { who: 'user', action: plainClaim(cast.claim), afterMs: 0 },
  ],
  // A volume is deleted under its claim.
  (cast) => script('user', cast, claimOf(cast), podOf(cast.claim), { do: 'delete-volume', of: { claim: cast.claim } }, deletePod(cast.claim, false)),
];

/** A disk that is there, of a class whose claims wait for their first pod: the scheduler gives it away, and the binder hears of it later. */
const slotOf = ({ volume, sizeGi }: Cast, number: number): UserAction => ({
  do: 'create-volume',
  name: `${volume}-${number}`,
  sizeGi,
  reclaim: 'Retain',
  storageClass: 'late',
});
const lateClaim = (name: string): UserAction => ({ do: 'create-claim', name, sizeGi: 1, storageClass: 'late', mode: 'ReadWriteOnce' });

const laterEpisodes: readonly Episode[] = [
  // The machine of a pod is off, and somebody says so.
  (cast) => [
    ...script('user', cast, claimOf(cast), { do: 'create-deployment', name: 'survivor', replicas: 1, claim: cast.claim }),
    { who: 'autoscaler', action: { do: 'out-of-service', node: cast.node, saidMs: cast.patience(), backMs: 20_000 + 2 * cast.patience() }, afterMs: 5_000 },
  ],
  // Two claims wait for their pods; there are disks for them.
  (cast) => [
    ...script('admin', cast, slotOf(cast, 1), slotOf(cast, 2)),
    ...script('user', cast, lateClaim(cast.claim), podOf(cast.claim), lateClaim(cast.other), podOf(cast.other)),
  ],
  // Two pods want a claim that is for one.
  (cast) =>
    script(
      'user',
      cast,
      { ...claimOf(cast), mode: 'ReadWriteOncePod' } as UserAction,
      podOf(cast.claim),
      { do: 'create-pod', name: `twin-of-${cast.claim}`, claims: [cast.claim] },
      deletePod(cast.claim, false),
      podOf(cast.claim),
    ),
  // A claim and its pod come and go; the disk that they had is not for the next ones.
  (cast) => [
    ...script('admin', cast, slotOf(cast, 1)),
    ...script('user', cast, lateClaim(cast.claim), podOf(cast.claim), deletePod(cast.claim, false), { do: 'delete-claim', name: cast.claim }),
    ...script('user', cast, lateClaim(cast.claim), podOf(cast.claim)),
  ],
];
