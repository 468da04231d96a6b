/** What would make a node fit a pod. */
import type { Pod } from '../../api/generated/types.ts';
import { claimsOfPod } from '../../storage/volumes/pods.ts';
import { kubectl } from '../explanation/commands.ts';
import type { Candidate, Fix } from '../explanation/explanation.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { plural, whereIs } from '../explanation/words.ts';

interface RejectedPod {
  readonly pod: Pod;
  readonly candidates: readonly Candidate[];
  readonly graph: ObjectGraph;
}

/** One sentence: why no node can run the pod. */
export function noNode({ pod, candidates, graph }: RejectedPod): string {
  const [first] = candidates;
  if (first === undefined) return 'There are no nodes.';
  const [place, ...others] = volumeLocations(pod, graph);
  const away = candidates.filter(isAway).length;
  if (away > 0 && place !== undefined && others.every(({ where }) => where === place.where)) {
    return `The node affinity of ${place.name} requires ${place.where}, where ${away === candidates.length ? 'there is no node' : 'no node can run the pod'}.`;
  }
  const texts = new Set(candidates.map(({ refusals }) => refusals[0]?.text ?? ''));
  const [shared] = texts;
  if (candidates.length === 1) return `The only node cannot run the pod: ${first.name} ${shared ?? ''}.`;
  return `None of ${plural(candidates.length, 'node')} can run the pod${texts.size === 1 ? `: each ${shared ?? ''}` : ''}.`;
}

const isAway = ({ refusals }: Candidate): boolean => refusals.some(({ rule }) => rule === 'nodeAffinity' || rule === 'zone');

interface VolumeLocation {
  /** 'pv/disk' */
  readonly name: string;
  readonly where: string;
}

/** The volumes of the pod that have a node affinity. */
function volumeLocations(pod: Pod, graph: ObjectGraph): readonly VolumeLocation[] {
  return claimsOfPod(pod)
    .flatMap((key) => graph.volume(graph.claim(key)?.volumeName ?? '') ?? [])
    .filter(({ nodes }) => nodes !== undefined)
    .map(({ name, object }) => ({ name: `pv/${name}`, where: whereIs(object) }));
}

export function nodeFixes({ pod, candidates, graph }: RejectedPod): readonly Fix[] {
  const fixes = Object.entries(remedies).flatMap(([rule, remedy]) => {
    const nearest = candidates.find(({ refusals }) => refusals.length === 1 && refusals[0]?.rule === rule);
    return nearest === undefined ? [] : [remedy(nearest, pod)];
  });
  const size = candidates.length > 0 && candidates.every(({ refusals }) => refusals.some(({ rule }) => rule === 'nodeSize' || rule === 'nodeSelector'));
  const wanted = candidates.flatMap(({ refusals }) => refusals.filter(({ rule }) => rule === 'nodeSize').map((refusal) => refusal.wanted ?? ''))[0];
  if (size && wanted !== undefined) fixes.push({ text: `add a node that is large enough, with ${wanted}, or lower the pod's requests`, commands: [] });
  if (candidates.length === 0) fixes.push({ text: 'add a node', commands: [] });
  return candidates.some(isAway) ? [...fixes, ...reach(volumeLocations(pod, graph))] : fixes;
}

/** For nodes that only one rule refuses: what would satisfy it. The easiest fix first. */
const remedies: Readonly<Record<string, (candidate: Candidate, pod: Pod) => Fix>> = {
  cordoned: (candidate) => ({ text: `uncordon ${candidate.name}`, commands: [kubectl(undefined, 'uncordon', nodeName(candidate))] }),
  nodeSelector: (candidate, pod) => {
    const labels = selectedLabels(pod);
    if (labels.length === 0)
      return { text: `label ${candidate.name} as the pod's node affinity requires, if it is meant: ${wantedOf(candidate)}`, commands: [] };
    return {
      text: `label ${candidate.name} as the pod selects, if it is meant`,
      commands: [kubectl(undefined, 'label', 'node', nodeName(candidate), ...labels)],
    };
  },
  taint: (candidate) => ({
    text: `give the pod a toleration for the taint of ${candidate.name}, or remove the taint`,
    commands: [kubectl(undefined, 'describe', 'node', nodeName(candidate))],
  }),
  resource: (candidate) => ({
    text: `free resources on ${candidate.name}, which needs ${wantedOf(candidate)}: delete a pod there, lower the requests of this pod, or raise its priority`,
    commands: [kubectl(undefined, 'describe', 'node', nodeName(candidate))],
  }),
  pods: (candidate) => ({ text: `delete a pod on ${candidate.name}: it runs as many as it can`, commands: [podsOn(candidate)] }),
  ports: (candidate) => ({
    text: `delete the pod on ${candidate.name} that uses the host port, or use another port: it needs ${wantedOf(candidate)}`,
    commands: [podsOn(candidate)],
  }),
  podAffinity: (candidate) => ({ text: `start a pod near ${candidate.name} that the pod's affinity requires`, commands: [] }),
  podAntiAffinity: (candidate) => ({ text: `delete the pod near ${candidate.name} that the pod's anti-affinity excludes`, commands: [podsOn(candidate)] }),
  existingAntiAffinity: (candidate) => ({ text: `delete the pod near ${candidate.name} whose anti-affinity excludes this one`, commands: [podsOn(candidate)] }),
  spread: (candidate) => ({ text: `${candidate.name} needs ${wantedOf(candidate)}; or allow a larger maxSkew`, commands: [] }),
};

const wantedOf = ({ refusals }: Candidate): string => refusals[0]?.wanted ?? 'something else';
const podsOn = (candidate: Candidate): string => kubectl(undefined, 'get', 'pods', '-A', '--field-selector', `spec.nodeName=${nodeName(candidate)}`);
const selectedLabels = ({ spec }: Pod): readonly string[] => Object.entries(spec.nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`);

const nodeName = ({ name }: Candidate): string => name.replace(/^node\//, '');

/** No node satisfies the node affinity of the volumes. */
function reach(places: readonly VolumeLocation[]): readonly Fix[] {
  const [first] = places;
  if (first === undefined) return [];
  if (new Set(places.map(({ where }) => where)).size > 1) {
    const list = places.map(({ name, where }) => `${name} in ${where}`).join(', ');
    return [{ text: `the pod's volumes are in different places (${list}), so no node can use all of them: use claims in one zone`, commands: [] }];
  }
  return [
    {
      text: `add a node in ${first.where}, or make one there schedulable: the data of ${first.name} is nowhere else`,
      commands: ['kubectl get nodes -L topology.kubernetes.io/zone'],
    },
    { text: 'for new claims: use a StorageClass with volumeBindingMode WaitForFirstConsumer, which provisions volumes where their pods can run', commands: [] },
  ];
}
