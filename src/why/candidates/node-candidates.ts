/** Which nodes could run a pod, by the scheduler's own plugins; refusals of the volume plugins name the volumes and their zones. */
import type { Node, Pod } from '../../api/generated/types.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { matchVolume } from '../../storage/volumes/match.ts';
import { claimsOfPod } from '../../storage/volumes/pods.ts';
import { waitsForConsumer } from '../../api/volumes/storage-class.ts';
import { matchesNode, topologyAllows } from '../../storage/volumes/topology.ts';
import type { Volume } from '../../storage/volumes/volume.ts';
import type { NodeInfo, Rejection } from '../../scheduler/framework.ts';
import { attachedBy, attachmentLimit } from './attach-limit.ts';
import type { Candidate, Refusal } from '../explanation/explanation.ts';
import { runFilters } from './scheduler-filters.ts';
import { noProvisioner } from '../graph/provisioner-evidence.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { nodePlace, plural, quoted, topologyOf, whereIs } from '../explanation/words.ts';

/** The nearest misses first. */
export function nodesFor(pod: Pod, graph: ObjectGraph): readonly Candidate[] {
  const needs = claimsOfPod(pod).flatMap((key) => needOf(graph.claim(key), graph) ?? []);
  return runFilters(pod, graph)
    .nodes.map(({ node, rejections }) => ({
      name: `node/${node.name}`,
      traits: traitsOf(node.node),
      refusals: rejections.flatMap((rejection) => refusalsOf(rejection, node, { graph, needs })),
    }))
    .sort((a, b) => a.refusals.length - b.refusals.length || (a.name < b.name ? -1 : 1));
}

/** What keeps the pod from every node, independent of the node. */
export const refusedEverywhere = (pod: Pod, graph: ObjectGraph): readonly Refusal[] =>
  runFilters(pod, graph).everywhere.flatMap(({ reasons }) => reasons.map((reason) => refusalOf(reason)));

const traitsOf = ({ metadata, spec }: Node): readonly string[] => [nodePlace(metadata.labels) ?? '-', ...(spec.unschedulable === true ? ['cordoned'] : [])];

/** The rules of this file that explain a rejection by each volume plugin. */
const storageRules: Readonly<Record<string, readonly string[]>> = {
  VolumeBinding: ['nodeAffinity', 'noVolume', 'allowedTopologies', 'selectedNode'],
  VolumeZone: ['zone'],
  NodeVolumeLimits: ['attachLimit'],
};

function refusalsOf(
  { plugin, reasons }: Rejection,
  node: NodeInfo,
  { graph, needs }: { readonly graph: ObjectGraph; readonly needs: readonly ClaimNeed[] },
): readonly Refusal[] {
  const rules = storageRules[plugin] ?? [];
  const place = { node: node.node, graph };
  const refusals = rules.length === 0 ? [] : needs.flatMap((need) => (need.type === 'bound' ? ofVolume(place, need.volume) : ofClaim(place, need)));
  const fitting = refusals.filter(({ rule }) => rules.includes(rule));
  return fitting.length > 0 ? fitting : reasons.map((reason) => refusalOf(reason, node));
}

function refusalOf({ rule, text, detail }: Rejection['reasons'][number], node?: NodeInfo): Refusal {
  const details = detail?.(node);
  return details === undefined ? { rule, text } : { rule, text: details.found, wanted: details.wanted };
}

/** What a claim means for the choice of a node. */
type ClaimNeed = { readonly type: 'bound'; readonly volume: Volume } | { readonly type: 'unbound'; readonly claim: Claim; readonly fitting: readonly Volume[] };

function needOf(claim: Claim | undefined, graph: ObjectGraph): ClaimNeed | undefined {
  if (claim === undefined) return undefined;
  const volume = claim.volumeName === '' ? undefined : graph.volume(claim.volumeName);
  if (volume !== undefined) return { type: 'bound', volume };
  if (!waitsForConsumer(graph.class(claim.className))) return undefined;
  const fitting = graph.volumes.filter((each) => matchVolume(claim, each) === 'fits');
  // One volume for each node affinity is enough: there are many volumes, and many nodes.
  return { type: 'unbound', claim, fitting: [...new Map(fitting.map((each) => [JSON.stringify(each.object.spec.nodeAffinity), each])).values()] };
}

interface NodeInGraph {
  readonly node: Node;
  readonly graph: ObjectGraph;
}

function ofVolume({ node, graph }: NodeInGraph, volume: Volume): readonly Refusal[] {
  const { name = '', labels } = node.metadata;
  const place = nodePlace(labels);
  if (volume.nodes !== undefined && !matchesNode(volume.nodes, { name, labels })) {
    return [
      {
        rule: 'nodeAffinity',
        text: `is ${place === undefined ? 'elsewhere' : `in ${place}`}; the node affinity of pv/${volume.name} requires ${whereIs(volume.object)}`,
      },
    ];
  }
  const zones = zoneLabels.flatMap((key) => (volume.labels?.[key] === undefined ? [] : [[key, volume.labels[key].split('__')] as const]));
  const wrong = zones.find(([key, values]) => !values.includes(labels?.[key] ?? ''));
  if (wrong !== undefined) {
    return [
      { rule: 'zone', text: `is ${place === undefined ? 'in no zone' : `in ${place}`}; pv/${volume.name} is labelled ${wrong[0]}=${wrong[1].join('__')}` },
    ];
  }
  return overLimit(volume, name, graph);
}

/** Labels that a node must share with a volume (plugin VolumeZone). */
const zoneLabels = [
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
] as const;

function overLimit(volume: Volume, node: string, graph: ObjectGraph): readonly Refusal[] {
  const driver = volume.object.spec.csi?.driver;
  const limit = driver === undefined ? undefined : attachmentLimit(graph.csiNode(node), driver);
  if (driver === undefined || limit === undefined) return [];
  const attached = attachedBy(graph.attachments, { driver, node }).filter((name) => name !== volume.name);
  return attached.length < limit
    ? []
    : [{ rule: 'attachLimit', text: `has ${plural(attached.length, 'volume')} of ${driver} attached, and its limit is ${limit}` }];
}

/** The volume is not chosen or provisioned yet. */
function ofClaim({ node, graph }: NodeInGraph, { claim, fitting }: Extract<ClaimNeed, { type: 'unbound' }>): readonly Refusal[] {
  const { name = '', labels } = node.metadata;
  const selected = claim.selectedNode;
  if (fitting.some(({ nodes }) => nodes === undefined || matchesNode(nodes, { name, labels }))) return [];
  const storageClass = graph.class(claim.className);
  if (storageClass?.provisioner === noProvisioner) {
    return [{ rule: 'noVolume', text: `can use no Available volume for pvc/${claim.name}` }];
  }
  if (!topologyAllows(storageClass?.allowedTopologies, labels)) {
    const where = topologyOf(storageClass?.allowedTopologies);
    return [{ rule: 'allowedTopologies', text: `is not in ${where}, as allowedTopologies of StorageClass ${quoted(claim.className)} requires` }];
  }
  if (selected !== undefined && selected !== name)
    return [{ rule: 'selectedNode', text: `is not node ${quoted(selected)}, for which the volume of pvc/${claim.name} is being provisioned` }];
  return [];
}
