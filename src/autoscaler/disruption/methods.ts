/** The methods of disruption, in Karpenter's order: the first that finds something wins. */
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import { readPod } from '../../scheduler/pod-info.ts';
import type { ClusterState } from '../cluster-state.ts';
import { labels } from '../labels.ts';
import { nodeClaimFor } from '../node-claims.ts';
import { cheapestPrice } from '../offerings.ts';
import { PlannedNode } from '../provisioning/planned-node.ts';
import { plan } from '../provisioning/planner.ts';
import { allows } from '../requirements/requirements.ts';
import { allowedDisruptions, type DisruptionReason } from './budgets.ts';
import { type Candidate, isConsolidatable, isDrifted, isEmpty } from './candidates.ts';
import type { Command } from './actions.ts';

export interface MethodContext {
  readonly state: ClusterState;
  readonly candidates: readonly Candidate[];
  readonly sha256: (text: string) => string;
  /** Why a node is not consolidated. */
  readonly onUnconsolidatable: (candidate: Candidate, why: string) => void;
}

/** More nodes are not replaced by one. */
const mostTogether = 100;

export function findCommand(context: MethodContext): Command | undefined {
  return emptiness(context) ?? drift(context) ?? multiNode(context) ?? singleNode(context);
}

function emptiness({ state, candidates }: MethodContext): Command | undefined {
  const empty = withinBudgets(
    state,
    'Empty',
    candidates.filter((candidate) => isEmpty(candidate) && isConsolidatable(candidate)),
  );
  return empty.length === 0 ? undefined : { reason: 'Empty', candidates: namesOf(empty), replacements: [] };
}

function drift(context: MethodContext): Command | undefined {
  for (const candidate of withinBudgets(context.state, 'Drifted', context.candidates.filter(isDrifted))) {
    const result = replacementsFor([candidate], context);
    if (result !== undefined) return { reason: 'Drifted', candidates: namesOf([candidate]), replacements: claimsFor(result, context) };
  }
  return undefined;
}

/** The most nodes, cheapest to disrupt first, that one cheaper node or none can stand for: found by halving. */
function multiNode(context: MethodContext): Command | undefined {
  const candidates = withinBudgets(
    context.state,
    'Underutilized',
    underutilized(context, () => undefined),
  ).slice(0, mostTogether);
  let best: Command | undefined;
  for (let [low, high] = [2, candidates.length]; low <= high; ) {
    const middle = Math.floor((low + high) / 2);
    const command = consolidate(candidates.slice(0, middle), context, () => undefined);
    if (command === undefined) high = middle - 1;
    else {
      best = command;
      low = middle + 1;
    }
  }
  return best;
}

function singleNode(context: MethodContext): Command | undefined {
  for (const candidate of withinBudgets(context.state, 'Underutilized', underutilized(context, context.onUnconsolidatable))) {
    const command = consolidate([candidate], context, (why) => context.onUnconsolidatable(candidate, why));
    if (command !== undefined) return command;
  }
  return undefined;
}

/** Those with the fewest pods first. */
function underutilized({ candidates }: MethodContext, tell: MethodContext['onUnconsolidatable']): readonly Candidate[] {
  return candidates
    .filter((candidate) => {
      const { metadata, spec } = candidate.pool;
      if (spec.disruption?.consolidateAfter === 'Never') tell(candidate, `NodePool "${metadata.name}" has consolidation disabled`);
      else if (spec.disruption?.consolidationPolicy === 'WhenEmpty') {
        if (!isEmpty(candidate)) tell(candidate, `NodePool "${metadata.name}" has consolidation policy WhenEmpty, but node is not empty`);
      } else return isConsolidatable(candidate);
      return false;
    })
    .toSorted((a, b) => a.pods.length - b.pods.length || (a.node.metadata.name < b.node.metadata.name ? -1 : 1));
}

function consolidate(candidates: readonly Candidate[], context: MethodContext, tell: (why: string) => void): Command | undefined {
  const launches = replacementsFor(candidates, context, tell);
  if (launches === undefined) return undefined;
  const reason = 'Underutilized';
  const [replacement] = launches;
  if (replacement === undefined) return { reason, candidates: namesOf(candidates), replacements: [] };
  if (launches.length > 1) {
    tell(`Can't remove without creating ${launches.length} candidates`);
    return undefined;
  }
  const isAllSpot = candidates.every(({ claim }) => claim.metadata.labels?.[labels.capacityType] === 'spot');
  if (isAllSpot && allows(replacement.requirements, labels.capacityType, 'spot')) {
    tell("SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node");
    return undefined;
  }
  const price = candidates.reduce((sum, candidate) => sum + candidate.price, 0);
  const types = replacement.types.filter(({ type }) => cheapestPrice(type, replacement.finalRequirements) < price);
  // The same type again is no saving, and would be replaced for ever.
  const own = new Set(candidates.map(({ claim }) => claim.metadata.labels?.[labels.instanceType]));
  if (types.length === 0 || types.some(({ type }) => candidates.length > 1 && own.has(type.name))) {
    tell("Can't replace with a cheaper node");
    return undefined;
  }
  const cheaper = new PlannedNode(replacement.name, { pool: replacement.pool, requirements: replacement.finalRequirements, types });
  cheaper.pods.push(...replacement.pods);
  return { reason, candidates: namesOf(candidates), replacements: claimsFor([cheaper], context) };
}

/** Where the pods of the candidates would go without them; undefined: some would find no place. */
function replacementsFor(
  candidates: readonly Candidate[],
  { state }: MethodContext,
  tell: (why: string) => void = () => undefined,
): readonly PlannedNode[] | undefined {
  const leaving = new Set(candidates.map(({ node }) => node.metadata.name));
  const pods = candidates.flatMap((candidate) => candidate.pods.map((pod) => readPod(pod, '')));
  if (pods.length === 0) return [];
  const pools = state.instancePools();
  const { launches, placements } = plan(state.scheduler, {
    pods,
    pools,
    inFlight: state.inFlight(pools),
    existing: state.takingNodes(leaving),
    leaving: [...leaving],
  });
  for (const placement of placements.values()) {
    if (placement.type === 'failed') {
      tell(placement.message);
      return undefined;
    }
    // A node that is not there yet may never come.
    if (placement.type === 'planned' && placement.node.claim !== undefined) {
      tell(`Node would depend on nodeclaim/${placement.node.claim.metadata.name ?? ''}, which is not initialized`);
      return undefined;
    }
  }
  return launches;
}

function claimsFor(nodes: readonly PlannedNode[], { state, sha256 }: MethodContext): readonly NodeClaim[] {
  return nodes.map((node) => nodeClaimFor({ node, isTaken: (name) => state.claims.getKey(name) !== undefined, sha256 }));
}

const namesOf = (candidates: readonly Candidate[]): readonly string[] => candidates.map(({ claim }) => claim.metadata.name);

/** As many candidates of each NodePool as its budgets allow. */
function withinBudgets(state: ClusterState, reason: DisruptionReason, candidates: readonly Candidate[]): readonly Candidate[] {
  const left = new Map<string, number>();
  return candidates.filter(({ pool }) => {
    const { name } = pool.metadata;
    const allowed = left.get(name) ?? allowedDisruptions(pool, reason, countsOf(name, state));
    left.set(name, allowed - 1);
    return allowed > 0;
  });
}

function countsOf(pool: string, state: ClusterState): { readonly nodes: number; readonly disrupting: number } {
  const claims = state.claimsOf(pool);
  const disrupting = claims.filter((claim) => {
    const node = state.nodeOf(claim);
    return claim.metadata.deletionTimestamp !== undefined || (node !== undefined && state.marked.has(node.metadata.name));
  });
  return { nodes: claims.length, disrupting: disrupting.length };
}
