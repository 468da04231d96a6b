import type { NodeSelectorTerm, Pod } from '../../api/generated/types.ts';
import { matchesNode, type NodeTerms, nodeTermsOf } from '../../storage/volumes/topology.ts';
import { type CyclePlugin, type NodeInfo, type Plugin, rejection, type Rejection, type RejectionDetail } from '../framework.ts';
import { namedNodes, RequiredNodeAffinity, requiredTerms } from '../required-node-affinity.ts';
import { normalizeScore } from './normalize-score.ts';

const name = 'NodeAffinity';

const contradiction = rejection('unresolvable', name, {
  text: 'pod affinity terms conflict',
  rule: 'nodeSelector',
  detail: () => ({ found: 'requires each term to match several node names at once', wanted: 'terms that a node can match' }),
});

/** NodeAffinity: node selector and required node affinity filter, preferred node affinity scores. */
export const nodeAffinity: Plugin = {
  name,
  weight: 2,
  preFilter: ({ pod }) => {
    const terms = requiredTerms(pod);
    const preferred = preferencesOf(pod);
    const isRestricted = terms !== undefined || pod.spec.nodeSelector !== undefined;
    if (!isRestricted && preferred.length === 0) return 'skip';
    const nodes = terms === undefined || terms.length === 0 ? undefined : namedNodes(terms);
    if (nodes?.size === 0) return contradiction;
    return new Affinity(pod, { nodes, isRestricted, preferred });
  },
  queueingHints: {
    events: ['node'],
    hint: ({ pod }, change) => {
      if (change.resource !== 'node' || change.after === undefined) return false;
      const required = new RequiredNodeAffinity(pod);
      return required.matchesObject(change.after) && (change.before === undefined || !required.matchesObject(change.before));
    },
  },
};

interface Preference {
  readonly weight: number;
  readonly terms: NodeTerms;
}

function preferencesOf({ spec }: Pod): readonly Preference[] {
  const given = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return given.flatMap(({ weight, preference }) => {
    const terms = nodeTermsOf({ nodeSelectorTerms: [preference] });
    return weight === 0 || terms.length === 0 ? [] : [{ weight, terms }];
  });
}

interface AffinityTerms {
  readonly nodes: ReadonlySet<string> | undefined;
  readonly isRestricted: boolean;
  readonly preferred: readonly Preference[];
}

class Affinity implements CyclePlugin {
  readonly nodeNames?: ReadonlySet<string>;
  readonly #required: RequiredNodeAffinity | undefined;
  readonly #preferred: readonly Preference[];
  readonly #mismatch: Rejection;

  constructor(pod: Pod, { nodes, isRestricted, preferred }: AffinityTerms) {
    if (nodes !== undefined) this.nodeNames = nodes;
    this.#required = isRestricted ? new RequiredNodeAffinity(pod) : undefined;
    this.#preferred = preferred;
    this.#mismatch = rejection('unresolvable', name, {
      text: "node(s) didn't match Pod's node affinity/selector",
      rule: 'nodeSelector',
      detail: (node) => mismatch(pod, node),
    });
  }

  filter(node: NodeInfo): Rejection | undefined {
    return this.#required === undefined || this.#required.matches(node) ? undefined : this.#mismatch;
  }

  score(nodes: readonly NodeInfo[]): readonly number[] | undefined {
    if (this.#preferred.length === 0) return undefined;
    const sums = nodes.map((node) => this.#preferred.reduce((sum, { weight, terms }) => sum + (matchesNode(terms, node) ? weight : 0), 0));
    return normalizeScore(sums, { reverse: false });
  }
}

function mismatch(pod: Pod, node: NodeInfo | undefined): RejectionDetail {
  const missing = Object.entries(pod.spec.nodeSelector ?? {}).filter(([key, value]) => node?.labels?.[key] !== value);
  const labels = missing.map(([key, value]) => `${key}=${value}`).join(', ');
  if (labels !== '') return { found: `lacks label ${labels}, which the pod selects`, wanted: `label ${labels}` };
  const required = shown(requiredTerms(pod) ?? []);
  return { found: `does not match the pod's node affinity: ${required}`, wanted: required };
}

/** 'zone In (a, b) and disk Exists, or rack In (1)' */
const shown = (terms: readonly NodeSelectorTerm[]): string =>
  terms
    .map(({ matchExpressions = [], matchFields = [] }) =>
      [...matchExpressions, ...matchFields]
        .map(({ key, operator, values = [] }) => `${key} ${operator}${values.length > 0 ? ` (${values.join(', ')})` : ''}`)
        .join(' and '),
    )
    .join(', or ');
