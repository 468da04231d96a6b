import type { Prng } from '../../world/prng.ts';
import type { UserAction, TimedAction } from './user-actions.ts';

type Step = { readonly who: TimedAction['who']; readonly action: UserAction; readonly afterMs: number };
type Episode = (names: EpisodeNames) => readonly Step[];

/** The names of an episode. Other actions use the same names, so that they interfere. */
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
 * Sequences of a few related actions: a bug that needs several of them in a row is hardly ever found if each is drawn by itself.
 */
export function drawEpisodes(random: Prng, { nodeNames, endMs }: EpisodesOptions): TimedAction[] {
  return Array.from({ length: 1 + random.below(3) }, (_, number) =>
    drawEpisode(random, { nodeNames, endMs }, { volume: `shelf-${number}`, of: episodes }),
  ).flat();
}

/** In one world of four, one of the episodes that were added later: the draws of the earlier ones stay as they were. */
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
  // A claim is deleted while its pod uses it, and created again.
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
  // A claim is created again under its old name, and its volume was retained.
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
  // A volume is recycled for the next claim.
  (names) =>
    script(
      'user',
      names,
      { do: 'create-volume', name: names.volume, sizeGi: names.sizeGi, reclaim: 'Recycle' },
      plainClaim(names.claim),
      { do: 'delete-claim', name: names.claim },
      plainClaim(names.other),
    ),
  // The reclaim policy becomes Retain before the claim is deleted.
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
  // A pod moves from node to node.
  (names) => [
    ...script('user', names, claimOf(names), { do: 'create-deployment', name: 'mover', replicas: 1, claim: names.claim }),
    ...script('admin', names, { do: 'drain', node: names.node }, { do: 'uncordon', node: names.node }),
  ],
  // A claim is expanded twice.
  (names) =>
    script(
      'user',
      names,
      claimOf(names),
      podOf(names.claim),
      { do: 'resize-claim', name: names.claim, sizeGi: 4 },
      { do: 'resize-claim', name: names.claim, sizeGi: 7 },
    ),
  // A StatefulSet is scaled down and up.
  (names) =>
    script(
      'user',
      names,
      { do: 'create-stateful-set', name: 'ledger', replicas: 2, storageClass: names.class, deletesClaims: false },
      { do: 'scale-stateful-set', name: 'ledger', replicas: 0 },
      { do: 'scale-stateful-set', name: 'ledger', replicas: 2 },
    ),
  // More volumes than the attach limit of a node, all at once.
  (names) =>
    ['crowd-1', 'crowd-2', 'crowd-3', 'crowd-4'].flatMap((name): Step[] => [
      { who: 'user', action: { ...claimOf(names), name } as UserAction, afterMs: 0 },
      { who: 'user', action: podOf(name), afterMs: 0 },
    ]),
  // The machine of a pod is lost; the pod is deleted by force, and created again.
  (names) => [
    ...script('user', names, claimOf(names), podOf(names.claim)),
    { who: 'autoscaler', action: { do: 'switch-off', node: names.node, backMs: 120_000 }, afterMs: 3_000 },
    ...script('user', names, deletePod(names.claim, true), podOf(names.claim)),
  ],
  // A volume is deleted while a claim requests one.
  (names) => [
    ...script('admin', names, { do: 'create-volume', name: names.volume, sizeGi: 1, reclaim: 'Retain' }),
    { who: 'admin', action: { do: 'delete-volume', of: { volume: names.volume } }, afterMs: 2_000 },
    { who: 'user', action: plainClaim(names.claim), afterMs: 0 },
  ],
  // A volume is deleted while its claim is bound to it.
  (names) => script('user', names, claimOf(names), podOf(names.claim), { do: 'delete-volume', of: { claim: names.claim } }, deletePod(names.claim, false)),
];

/** An existing volume of a WaitForFirstConsumer class: the scheduler chooses it, and the binder is notified later. */
const slotOf = ({ volume, sizeGi }: EpisodeNames, number: number): UserAction => ({
  do: 'create-volume',
  name: `${volume}-${number}`,
  sizeGi,
  reclaim: 'Retain',
  storageClass: 'late',
});
const lateClaim = (name: string): UserAction => ({ do: 'create-claim', name, sizeGi: 1, storageClass: 'late', mode: 'ReadWriteOnce' });

const laterEpisodes: readonly Episode[] = [
  // The machine of a pod is off, and its node is tainted as out of service.
  (names) => [
    ...script('user', names, claimOf(names), { do: 'create-deployment', name: 'survivor', replicas: 1, claim: names.claim }),
    { who: 'autoscaler', action: { do: 'out-of-service', node: names.node, saidMs: names.pauseMs(), backMs: 20_000 + 2 * names.pauseMs() }, afterMs: 5_000 },
  ],
  // Two claims wait for their first consumer, and volumes exist for them.
  (names) => [
    ...script('admin', names, slotOf(names, 1), slotOf(names, 2)),
    ...script('user', names, lateClaim(names.claim), podOf(names.claim), lateClaim(names.other), podOf(names.other)),
  ],
  // Two pods use a ReadWriteOncePod claim.
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
  // A claim and its pod are deleted and created again; the retained volume is not for the new claim.
  (names) => [
    ...script('admin', names, slotOf(names, 1)),
    ...script('user', names, lateClaim(names.claim), podOf(names.claim), deletePod(names.claim, false), { do: 'delete-claim', name: names.claim }),
    ...script('user', names, lateClaim(names.claim), podOf(names.claim)),
  ],
];
