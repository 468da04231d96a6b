/** CSI's accessibility requirements of a claim: GenerateAccessibilityRequirements of external-provisioner. */
import type { TopologySelectorTerm } from '../../api/generated/types.ts';
import type { Labels } from '../../api/selectors/label-selector.ts';
import type { AccessibilityRequirements, Topology, TopologySegments } from '../../api/volumes/intent.ts';
import { segmentsOf } from '../volumes/topology-segments.ts';

/** The nodes as drivers see them. */
export interface TopologySnapshot {
  /** The driver's topology keys on the node, from its CSINode; undefined: there is no CSINode. */
  topologyKeys(driver: string, node: string): readonly string[] | undefined;
  /** The topology keys of any node that has some. */
  anyTopologyKeys(driver: string): readonly string[];
  labels(node: string): Labels | undefined;
  /** The different values of these labels on the nodes that have all of them. */
  segments(keys: readonly string[]): readonly TopologySegments[];
}

export interface AccessibilityRequest {
  readonly driver: string;
  readonly claimName: string;
  readonly selectedNode: string | undefined;
  readonly allowedTopologies: readonly TopologySelectorTerm[];
  /** --strict-topology: of the selected node alone. */
  readonly strict: boolean;
  /** --immediate-topology: without a selected node, all topologies of the cluster. */
  readonly immediate: boolean;
}

export type AccessibilityAnswer =
  | { readonly type: 'requirements'; readonly requirements: AccessibilityRequirements | undefined }
  /** `reschedule`: the node is gone. */
  | { readonly type: 'refused'; readonly message: string; readonly reschedule: boolean };

const refused = (message: string, reschedule = false): AccessibilityAnswer => ({ type: 'refused', message, reschedule });

export function accessibilityOf(request: AccessibilityRequest, snapshot: TopologySnapshot): AccessibilityAnswer {
  const { driver, selectedNode, allowedTopologies, immediate } = request;
  if (selectedNode !== undefined) return forNode(request, selectedNode, snapshot);
  if (allowedTopologies.length === 0 && !immediate) return { type: 'requirements', requirements: undefined };
  const keys = allowedTopologies.length > 0 ? [] : snapshot.anyTopologyKeys(driver);
  const requisite = allowedTopologies.length > 0 ? flatten(allowedTopologies) : keys.length === 0 ? [] : snapshot.segments(keys);
  if (requisite.length === 0 && allowedTopologies.length === 0) {
    return refused(
      `error generating accessibility requirements: ${keys.length === 0 ? 'no available topology found' : `topologyKeys [${keys.join(' ')}] were not found on any nodes`}`,
    );
  }
  return requirementsFrom(requisite, (terms) => rotated(terms, offsetOf(request.claimName) % terms.length));
}

function forNode({ driver, allowedTopologies, strict }: AccessibilityRequest, node: string, snapshot: TopologySnapshot): AccessibilityAnswer {
  const keys = snapshot.topologyKeys(driver, node);
  if (keys === undefined) return refused(`failed to get selected CSINode ${node}: csinode.storage.k8s.io "${node}" not found`, true);
  if (keys.length === 0) return refused(`error generating accessibility requirements: no topology key found for node ${node}`);
  const labels = snapshot.labels(node) ?? {};
  const selected = segmentsOf(labels, keys);
  if (selected === undefined) {
    return refused(
      `error generating accessibility requirements: topology labels from selected node ${node} do not have all topology keys of its CSINode [${keys.join(' ')}]`,
    );
  }
  const allowed = flatten(allowedTopologies);
  if (strict && allowedTopologies.length > 0 && !allowed.some((term) => isSubset(term, selected))) {
    return refused(
      `error generating accessibility requirements: selected node '"${node}"' topology '${show(selected)}' is not in allowed topologies: ${allowed.map(show).join(' ')}`,
    );
  }
  const requisite = strict ? [selected] : allowedTopologies.length > 0 ? allowed : snapshot.segments(keys);
  const preferredFrom = (terms: readonly TopologySegments[]) => terms.findIndex((term) => isSubset(term, selected));
  if (requisite.length > 0 && preferredFrom(requisite) === -1) {
    return refused(
      `error generating accessibility requirements: topology ${show(selected)} from selected node "${node}" is not in requisite: ${requisite.map(show).join(' ')}`,
    );
  }
  return requirementsFrom(requisite, (terms) => rotated(terms, preferredFrom(terms)));
}

function requirementsFrom(
  terms: readonly TopologySegments[],
  prefer: (terms: readonly TopologySegments[]) => readonly TopologySegments[],
): AccessibilityAnswer {
  const requisite = sortedUnique(terms);
  return {
    type: 'requirements',
    requirements: requisite.length === 0 ? undefined : { requisite: requisite.map(topologyOf), preferred: prefer(requisite).map(topologyOf) },
  };
}

const topologyOf = (segments: TopologySegments): Topology => ({ segments });

/** allowedTopologies as alternatives of single values: (a or b) and (c or d) becomes ac, bc, ad, bd. */
function flatten(terms: readonly TopologySelectorTerm[]): readonly TopologySegments[] {
  return terms.flatMap(({ matchLabelExpressions = [] }) => {
    let alternatives: readonly TopologySegments[] = [];
    for (const { key, values } of matchLabelExpressions) {
      alternatives = (values ?? []).flatMap((value) =>
        alternatives.length === 0 ? [{ [key]: value }] : alternatives.map((segments) => ({ ...segments, [key]: value })),
      );
    }
    return alternatives;
  });
}

const isSubset = (term: TopologySegments, of: TopologySegments): boolean => Object.entries(term).every(([key, value]) => of[key] === value);

function sortedUnique(terms: readonly TopologySegments[]): readonly TopologySegments[] {
  const byText = new Map(terms.filter((term) => Object.keys(term).length > 0).map((term) => [entriesOf(term), term]));
  return [...byText].sort(([a], [b]) => compare(a, b)).map(([, term]) => term);
}

/** Key by key, and shorter ones first. */
function compare(a: string, b: string): number {
  const [left, right] = [a.split('\n'), b.split('\n')];
  if (left.length !== right.length) return left.length - right.length;
  for (const [i, part] of left.entries()) {
    const other = right[i] ?? '';
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}

const entriesOf = (term: TopologySegments): string =>
  Object.keys(term)
    .sort()
    .map((key) => `${key}\t${term[key] ?? ''}`)
    .join('\n');

const show = (term: TopologySegments): string => JSON.stringify(term);

const rotated = <T>(values: readonly T[], by: number): readonly T[] => [...values.slice(by), ...values.slice(0, by)];

/** Spreads the claims of a StatefulSet: its name's hash plus the ordinal (getPVCNameHashAndIndexOffset of Kubernetes' volume util). */
function offsetOf(claimName: string): number {
  const [, prefix, ordinal] = /^(.*)-([0-9]{1,10})$/.exec(claimName) ?? [];
  const index = Number(ordinal ?? 0);
  if (prefix === undefined || index > 0xffff_ffff) return fnv(claimName);
  return (fnv(prefix.slice(prefix.lastIndexOf('-') + 1)) + index) >>> 0;
}

/** FNV-1, 32 bits. */
function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = (Math.imul(hash, 0x01000193) ^ byte) >>> 0;
  return hash;
}
