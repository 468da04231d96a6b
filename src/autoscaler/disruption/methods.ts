/** The methods of disruption, in Karpenter's order: the first that finds something wins. */
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import { asUnscheduled, type ClusterState } from '../cluster-state.ts';
import { labels } from '../labels.ts';
import { isReady } from '../lifecycle/initialization.ts';
import { conditionOf, isTrue, nodeClaimFor } from '../node-claims.ts';
import { worstPrice } from '../offerings.ts';
import type { PooledType } from '../provisioning/instance-pool.ts';
import { labelShortOfValues, PlannedNode } from '../provisioning/planned-node.ts';
import { plan } from '../provisioning/planner.ts';
import { allows, combined, type Requirements } from '../requirements/requirements.ts';
import { exactly } from '../requirements/value-set.ts';
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

/** Empty nodes first, then those that drifted first. */
function drift(context: MethodContext): Command | undefined {
  const since = ({ claim }: Candidate): string => conditionOf(claim, 'Drifted')?.lastTransitionTime ?? '';
  const rank = (candidate: Candidate): number => (isEmpty(candidate) ? 0 : 1);
  const drifted = context.candidates.filter(isDrifted).toSorted((a, b) => rank(a) - rank(b) || (since(a) < since(b) ? -1 : 1));
  for (const candidate of withinBudgets(context.state, 'Drifted', drifted)) {
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

/** Those with the fewest pods first. A node that is empty was left by emptiness because of its budget: other reasons do not remove it either. */
function underutilized({ candidates }: MethodContext, tell: MethodContext['onUnconsolidatable']): readonly Candidate[] {
  return candidates
    .filter((candidate) => {
      const { metadata, spec } = candidate.pool;
      if (spec.disruption?.consolidateAfter === 'Never') tell(candidate, `NodePool "${metadata.name}" has consolidation disabled`);
      else if (spec.disruption?.consolidationPolicy === 'WhenEmpty') {
        if (!isEmpty(candidate)) tell(candidate, `NodePool "${metadata.name}" has consolidation policy WhenEmpty, but node is not empty`);
      } else return !isEmpty(candidate) && isConsolidatable(candidate);
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
  const requirements = cheapestCapacity(replacement.finalRequirements);
  const types = cheaperTypes(candidates, replacement.types, requirements);
  if (types.length === 0 || labelShortOfValues(requirements, types) !== undefined) {
    tell("Can't replace with a cheaper node");
    return undefined;
  }
  const cheaper = new PlannedNode(replacement.name, { pool: replacement.pool, requirements, types });
  cheaper.pods.push(...replacement.pods);
  return { reason, candidates: namesOf(candidates), replacements: claimsFor([cheaper], context) };
}

/** Prices are compared for spot, which is launched if it can be: without this, on-demand could be launched instead, at a higher price. */
function cheapestCapacity(requirements: Requirements): Requirements {
  return allows(requirements, labels.capacityType, 'spot') ? combined(requirements, new Map([[labels.capacityType, exactly('spot')]])) : requirements;
}

/** Of several nodes, one whose type is among the replacement's could stay instead: the replacement has to be cheaper than that one (filterOutSameInstanceType). */
function cheaperTypes(candidates: readonly Candidate[], types: readonly PooledType[], requirements: Requirements): readonly PooledType[] {
  const sum = candidates.reduce((total, { price }) => total + price, 0);
  // Of a node whose price is unknown it cannot be said that another is cheaper.
  if (!Number.isFinite(sum)) return [];
  const cheaper = types.filter(({ type }) => worstPrice(type, requirements) < sum);
  const names = new Set(cheaper.map(({ type }) => type.name));
  const same = candidates.length === 1 ? [] : candidates.filter(({ claim }) => names.has(claim.metadata.labels?.[labels.instanceType] ?? ''));
  const most = Math.min(sum, ...same.map(({ price }) => price));
  return cheaper.filter(({ type }) => worstPrice(type, requirements) < most);
}

/** Where the pods of the candidates would go without them; undefined: some would find no place. */
function replacementsFor(
  candidates: readonly Candidate[],
  { state }: MethodContext,
  tell: (why: string) => void = () => undefined,
): readonly PlannedNode[] | undefined {
  const leaving = new Set(candidates.map(({ node }) => node.metadata.name));
  const pods = candidates.flatMap((candidate) => candidate.pods.map(asUnscheduled));
  if (pods.length === 0) return [];
  const own = new Set(pods.map(({ uid }) => uid));
  const input = state.plannerInput();
  // Pods that wait, or whose nodes are going, need places too. A node for them alone is the provisioner's to launch.
  const { launches, placements } = plan(state.scheduler, {
    ...input,
    pods: [...input.pods, ...pods],
    existing: state.takingNodes(leaving),
    leaving: [...leaving],
  });
  for (const { uid } of pods) {
    const placement = placements.get(uid);
    if (placement?.type === 'failed') {
      tell(placement.message);
      return undefined;
    }
    // A node that is not there yet may never come.
    if (placement?.type === 'planned' && placement.node.claim !== undefined) {
      tell(`Node would depend on nodeclaim/${placement.node.claim.metadata.name ?? ''}, which is not initialized`);
      return undefined;
    }
  }
  return launches.filter((node) => node.pods.some(({ uid }) => own.has(uid)));
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

/** A node that is not ready is disrupted already. */
function countsOf(pool: string, state: ClusterState): { readonly nodes: number; readonly disrupting: number } {
  const nodes = state.claimsOf(pool).flatMap((claim) => (isTrue(claim, 'Initialized') ? (state.nodeOf(claim) ?? []) : []));
  return { nodes: nodes.length, disrupting: nodes.filter((node) => state.isLeaving(node) || !isReady(node)).length };
}
