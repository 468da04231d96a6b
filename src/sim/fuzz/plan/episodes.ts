import type { Prng } from '../../world/prng.ts';
import type { UserAction, TimedAction } from './user-actions.ts';

type Step = { readonly who: TimedAction['who']; readonly action: UserAction; readonly afterMs: number };
type Episode = (names: EpisodeNames) => readonly Step[];

/** Who plays in an episode: names that others use as well, so that episodes meet each other and everything else. */
interface EpisodeNames {
  readonly claim: string;
  readonly other: string;
  readonly volume: string;
  readonly node: string;
  readonly sizeGi: number;
  readonly class: 'fast' | 'late';
  readonly pauseMs: () => number;
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
  const names: EpisodeNames = {
    claim: claims[first] ?? '',
    other: claims[(first + 1) % claims.length] ?? '',
    volume,
    node: nodeNames[random.below(nodeNames.length)] ?? '',
    sizeGi: 1 + random.below(2),
    class: random.chance(0.6) ? 'fast' : 'late',
    pauseMs: () => random.below(random.chance(0.5) ? 3_000 : 20_000),
  };
  const steps = of[random.below(of.length)]?.(names) ?? [];
  let at = random.below(endMs / 3);
  return steps.map(({ who, action, afterMs }): TimedAction => ({ at: Math.min((at += afterMs), endMs), who, action }));
}

const script = (who: TimedAction['who'], names: EpisodeNames, ...actions: readonly UserAction[]): readonly Step[] =>
  actions.map((action) => ({ who, action, afterMs: names.pauseMs() }));

const claimOf = ({ claim, sizeGi, class: storageClass }: EpisodeNames): UserAction => ({
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
  (names) =>
    script(
      'user',
      names,
      claimOf(names),
      podOf(names.claim),
      { do: 'delete-claim', name: names.claim },
      deletePod(names.claim, false),
      claimOf(names),
      podOf(names.claim),
    ),
  // A claim comes back under its old name to a volume that was kept.
  (names) =>
    script(
      'user',
      names,
      { do: 'create-volume', name: names.volume, sizeGi: names.sizeGi, reclaim: 'Retain' },
      plainClaim(names.claim),
      { do: 'delete-claim', name: names.claim },
      plainClaim(names.claim),
      plainClaim(names.other),
    ),
  // A volume goes from hand to hand.
  (names) =>
    script(
      'user',
      names,
      { do: 'create-volume', name: names.volume, sizeGi: names.sizeGi, reclaim: 'Recycle' },
      plainClaim(names.claim),
      { do: 'delete-claim', name: names.claim },
      plainClaim(names.other),
    ),
  // Somebody wants to keep the data after all.
  (names) =>
    script(
      'user',
      names,
      claimOf(names),
      podOf(names.claim),
      { do: 'set-policy', of: { claim: names.claim }, reclaim: 'Retain' },
      deletePod(names.claim, false),
      {
        do: 'delete-claim',
        name: names.claim,
      },
    ),
  // It moves from node to node.
  (names) => [
    ...script('user', names, claimOf(names), { do: 'create-deployment', name: 'mover', replicas: 1, claim: names.claim }),
    ...script('admin', names, { do: 'drain', node: names.node }, { do: 'uncordon', node: names.node }),
  ],
  // It grows, twice.
  (names) =>
    script(
      'user',
      names,
      claimOf(names),
      podOf(names.claim),
      { do: 'resize-claim', name: names.claim, sizeGi: 4 },
      { do: 'resize-claim', name: names.claim, sizeGi: 7 },
    ),
  // A database that shrinks and grows.
  (names) =>
    script(
      'user',
      names,
      { do: 'create-stateful-set', name: 'ledger', replicas: 2, storageClass: names.class, deletesClaims: false },
      { do: 'scale-stateful-set', name: 'ledger', replicas: 0 },
      { do: 'scale-stateful-set', name: 'ledger', replicas: 2 },
    ),
  // More than fits on a node, all at once.
  (names) =>
    ['crowd-1', 'crowd-2', 'crowd-3', 'crowd-4'].flatMap((name): Step[] => [
      { who: 'user', action: { ...claimOf(names), name } as UserAction, afterMs: 0 },
      { who: 'user', action: podOf(name), afterMs: 0 },
    ]),
  // The machine of a pod is lost; somebody deletes the pod by force, and makes another.
  (names) => [
    ...script('user', names, claimOf(names), podOf(names.claim)),
    { who: 'autoscaler', action: { do: 'switch-off', node: names.node, backMs: 120_000 }, afterMs: 3_000 },
    ...script('user', names, deletePod(names.claim, true), podOf(names.claim)),
  ],
  // A volume is deleted while somebody asks for one.
  (names) => [
    ...script('admin', names, { do: 'create-volume', name: names.volume, sizeGi: 1, reclaim: 'Retain' }),
    { who: 'admin', action: { do: 'delete-volume', of: { volume: names.volume } }, afterMs: 2_000 },
    { who: 'user', action: plainClaim(names.claim), afterMs: 0 },
  ],
  // A volume is deleted under its claim.
  (names) => script('user', names, claimOf(names), podOf(names.claim), { do: 'delete-volume', of: { claim: names.claim } }, deletePod(names.claim, false)),
];

/** A disk that is there, of a class whose claims wait for their first pod: the scheduler gives it away, and the binder hears of it later. */
const slotOf = ({ volume, sizeGi }: EpisodeNames, number: number): UserAction => ({
  do: 'create-volume',
  name: `${volume}-${number}`,
  sizeGi,
  reclaim: 'Retain',
  storageClass: 'late',
});
const lateClaim = (name: string): UserAction => ({ do: 'create-claim', name, sizeGi: 1, storageClass: 'late', mode: 'ReadWriteOnce' });

const laterEpisodes: readonly Episode[] = [
  // The machine of a pod is off, and somebody says so.
  (names) => [
    ...script('user', names, claimOf(names), { do: 'create-deployment', name: 'survivor', replicas: 1, claim: names.claim }),
    { who: 'autoscaler', action: { do: 'out-of-service', node: names.node, saidMs: names.pauseMs(), backMs: 20_000 + 2 * names.pauseMs() }, afterMs: 5_000 },
  ],
  // Two claims wait for their pods; there are disks for them.
  (names) => [
    ...script('admin', names, slotOf(names, 1), slotOf(names, 2)),
    ...script('user', names, lateClaim(names.claim), podOf(names.claim), lateClaim(names.other), podOf(names.other)),
  ],
  // Two pods want a claim that is for one.
  (names) =>
    script(
      'user',
      names,
      { ...claimOf(names), mode: 'ReadWriteOncePod' } as UserAction,
      podOf(names.claim),
      { do: 'create-pod', name: `twin-of-${names.claim}`, claims: [names.claim] },
      deletePod(names.claim, false),
      podOf(names.claim),
    ),
  // A claim and its pod come and go; the disk that they had is not for the next ones.
  (names) => [
    ...script('admin', names, slotOf(names, 1)),
    ...script('user', names, lateClaim(names.claim), podOf(names.claim), deletePod(names.claim, false), { do: 'delete-claim', name: names.claim }),
    ...script('user', names, lateClaim(names.claim), podOf(names.claim)),
  ],
];
