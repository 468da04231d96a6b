/** Instances without a claim are ended; claims whose instance is lost are deleted (Karpenter's garbagecollection controllers). */
import type { Node } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { Decision, ObjectWrite } from '../../client/decision.ts';
import type { Instance } from '../cloud-provider.ts';
import { conditionOf, isTrue } from '../node-claims.ts';

export interface EndInstance {
  readonly do: 'endInstance';
  readonly providerID: string;
}

/** Asks the cloud for its instances; the answer is remembered for the next pass. */
export interface ListInstances {
  readonly do: 'listInstances';
}

export type GarbageAction = EndInstance | ListInstances | ObjectWrite<NodeClaim>;

export interface GarbageSnapshot {
  /** Undefined: not asked for yet. */
  readonly listed: { readonly instances: readonly Instance[]; readonly at: number } | undefined;
  readonly claims: readonly NodeClaim[];
  readonly nodeOf: (claim: NodeClaim) => Node | undefined;
}

const everyMs = 2 * 60_000;
/** The claim of an instance that was just launched may not be written yet. */
const newMs = 30_000;

export function decideGarbage({ listed, claims, nodeOf }: GarbageSnapshot, now: number): Decision<GarbageAction> {
  if (listed === undefined || now >= listed.at + everyMs) return { actions: [{ do: 'listInstances' }], reasons: [], again: now + everyMs };
  const claimed = new Set(claims.flatMap(({ status }) => status?.providerID ?? []));
  // The instance of a claim whose status is not written yet, which a crash may delay, is found again by its next launch.
  const named = new Set(claims.filter(({ status }) => status?.providerID === undefined).map(({ metadata }) => metadata.name));
  const known = new Set(listed.instances.map(({ providerID }) => providerID));
  const leaked = listed.instances.filter(({ providerID, claim, launchedAt }) => !claimed.has(providerID) && !named.has(claim) && now - launchedAt > newMs);
  // A node that is ready has an instance, whatever the cloud says.
  const lost = claims.filter((claim) => {
    const { metadata, status } = claim;
    if (metadata.deletionTimestamp !== undefined || status?.providerID === undefined || known.has(status.providerID) || !isTrue(claim, 'Launched'))
      return false;
    const node = nodeOf(claim);
    const isReady = node?.status.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') ?? false;
    // Not since its creation: a launch may be repeated for minutes, and succeed after the cloud was asked.
    return !isReady && Date.parse(conditionOf(claim, 'Launched')?.lastTransitionTime ?? '') + newMs < listed.at;
  });
  return {
    actions: [...leaked.map(({ providerID }) => ({ do: 'endInstance', providerID }) as const), ...lost.map((object) => ({ do: 'delete', object }) as const)],
    reasons: [
      ...leaked.map(({ providerID }) => ({ code: 'LeakedInstance', text: providerID })),
      ...lost.map(({ metadata }) => ({ code: 'LostInstance', text: metadata.name ?? '' })),
    ],
    again: listed.at + everyMs,
  };
}
