/** Which nodes could run a pod, as far as its volumes, and what an administrator said of the nodes, are concerned. */
import type { Node, Pod, Taint, Toleration } from '../api/generated/types.ts';
import type { Claim } from '../domain/volumes/claim.ts';
import { matchVolume } from '../domain/volumes/match.ts';
import { claimsOfPod } from '../domain/volumes/pods.ts';
import { waitsForConsumer } from '../domain/volumes/storage-class.ts';
import { matchesNode, nodeTermsOf, topologyAllows } from '../domain/volumes/topology.ts';
import type { Volume } from '../domain/volumes/volume.ts';
import { attachedBy, attachmentLimit } from './attach-limit.ts';
import type { Candidate, Refusal } from './explanation.ts';
import { noProvisioner } from './provisioners.ts';
import type { Sight } from './sight.ts';
import { nodePlace, nodesSelected, plural, quoted, topologyOf, whereIs } from './words.ts';

/** The nearest misses first. */
export function nodesFor(pod: Pod, sight: Sight): readonly Candidate[] {
  const needs = claimsOfPod(pod).flatMap((key) => needOf(sight.claim(key), sight) ?? []);
  return sight.nodes
    .map((node) => ({ name: `node/${node.metadata.name ?? ''}`, traits: traitsOf(node), refusals: refusalsOf({ pod, node, sight }, needs) }))
    .sort((a, b) => a.refusals.length - b.refusals.length || (a.name < b.name ? -1 : 1));
}

const traitsOf = ({ metadata, spec }: Node): readonly string[] => [nodePlace(metadata.labels) ?? '-', ...(spec.unschedulable === true ? ['cordoned'] : [])];

/** What a claim means for the choice of a node. */
type Need = { readonly type: 'bound'; readonly volume: Volume } | { readonly type: 'unbound'; readonly claim: Claim; readonly fitting: readonly Volume[] };

function needOf(claim: Claim | undefined, sight: Sight): Need | undefined {
  if (claim === undefined) return undefined;
  const volume = claim.volumeName === '' ? undefined : sight.volume(claim.volumeName);
  if (volume !== undefined) return { type: 'bound', volume };
  if (!waitsForConsumer(sight.class(claim.className))) return undefined;
  const fitting = sight.volumes.filter((each) => matchVolume(claim, each) === 'fits');
  // One of each place will do: there are many volumes, and many nodes.
  return { type: 'unbound', claim, fitting: [...new Map(fitting.map((each) => [JSON.stringify(each.object.spec.nodeAffinity), each])).values()] };
}

interface Place {
  readonly pod: Pod;
  readonly node: Node;
  readonly sight: Sight;
}

function refusalsOf(place: Place, needs: readonly Need[]): readonly Refusal[] {
  return [...ofNode(place), ...needs.flatMap((need) => (need.type === 'bound' ? ofVolume(place, need.volume) : ofClaim(place, need)))];
}

function ofNode({ pod, node }: Place): readonly Refusal[] {
  const { name = '', labels } = node.metadata;
  const refusals: Refusal[] = [];
  const tolerations = pod.spec.tolerations ?? [];
  const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
  if (node.spec.unschedulable === true && !isTolerated(cordon, tolerations)) refusals.push({ rule: 'cordoned', text: 'is cordoned' });
  for (const taint of node.spec.taints ?? []) {
    if (taint.key === cordon.key || taint.effect === 'PreferNoSchedule' || isTolerated(taint, tolerations)) continue;
    refusals.push({ rule: 'taint', text: `has taint ${taint.key}${taint.value === undefined ? '' : `=${taint.value}`}, which the pod does not tolerate` });
  }
  const missing = Object.entries(pod.spec.nodeSelector ?? {}).filter(([key, value]) => labels?.[key] !== value);
  if (missing.length > 0)
    refusals.push({ rule: 'nodeSelector', text: `lacks label ${missing.map(([key, value]) => `${key}=${value}`).join(', ')}, which the pod selects` });
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required !== undefined && !matchesNode(nodeTermsOf(required), { name, labels })) {
    refusals.push({ rule: 'podAffinity', text: `is not what the pod's node affinity requires: ${nodesSelected(required.nodeSelectorTerms ?? [])}` });
  }
  return refusals;
}

function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(
    ({ key = '', operator = 'Equal', value = '', effect = '' }) =>
      (effect === '' || effect === taint.effect) &&
      (key === '' ? operator === 'Exists' : key === taint.key && (operator === 'Exists' || value === (taint.value ?? ''))),
  );
}

function ofVolume({ node, sight }: Place, volume: Volume): readonly Refusal[] {
  const { name = '', labels } = node.metadata;
  const place = nodePlace(labels);
  if (volume.nodes !== undefined && !matchesNode(volume.nodes, { name, labels })) {
    return [
      {
        rule: 'nodeAffinity',
        text: `is ${place === undefined ? 'elsewhere' : `in ${place}`}; pv/${volume.name} can be reached only from ${whereIs(volume.object)}`,
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
  return overLimit(volume, name, sight);
}

/** Labels of a volume that a node must share. */
const zoneLabels = [
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
] as const;

function overLimit(volume: Volume, node: string, sight: Sight): readonly Refusal[] {
  const driver = volume.object.spec.csi?.driver;
  const limit = driver === undefined ? undefined : attachmentLimit(sight.csiNode(node), driver);
  if (driver === undefined || limit === undefined) return [];
  const attached = attachedBy(sight.attachments, { driver, node }).filter((name) => name !== volume.name);
  return attached.length < limit
    ? []
    : [{ rule: 'attachLimit', text: `has ${plural(attached.length, 'volume')} of ${driver} attached, and can have no more than ${limit}` }];
}

/** The volume is yet to be chosen, or made, for the node. */
function ofClaim({ node, sight }: Place, { claim, fitting }: Extract<Need, { type: 'unbound' }>): readonly Refusal[] {
  const { name = '', labels } = node.metadata;
  const selected = claim.selectedNode;
  if (fitting.some(({ nodes }) => nodes === undefined || matchesNode(nodes, { name, labels }))) return [];
  const storageClass = sight.class(claim.className);
  if (storageClass?.provisioner === noProvisioner) {
    return [{ rule: 'noVolume', text: `can reach no free volume for pvc/${claim.name}` }];
  }
  if (!topologyAllows(storageClass?.allowedTopologies, labels)) {
    const where = topologyOf(storageClass?.allowedTopologies);
    return [{ rule: 'allowedTopologies', text: `is not in ${where}, where alone class ${quoted(claim.className)} lets volumes be made` }];
  }
  if (selected !== undefined && selected !== name)
    return [{ rule: 'selectedNode', text: `is not node ${quoted(selected)}, for which the volume of pvc/${claim.name} is being made` }];
  return [];
}
