/** What would let a pod onto a node. */
import type { Pod } from '../api/generated/types.ts';
import { claimsOfPod } from '../domain/volumes/pods.ts';
import { kubectl } from './commands.ts';
import type { Candidate, Fix } from './explanation.ts';
import type { Sight } from './sight.ts';
import { plural, whereIs } from './words.ts';

interface Refused {
  readonly pod: Pod;
  readonly candidates: readonly Candidate[];
  readonly sight: Sight;
}

/** Why no node can run the pod, in a sentence. */
export function noNode({ pod, candidates, sight }: Refused): string {
  const [first] = candidates;
  if (first === undefined) return 'There are no nodes.';
  const [place, ...others] = placesOf(pod, sight);
  const away = candidates.filter(isAway).length;
  if (away > 0 && place !== undefined && others.every(({ where }) => where === place.where)) {
    return `${place.name} can be reached only from ${place.where}, where ${away === candidates.length ? 'there is no node' : 'no node can run the pod'}.`;
  }
  const texts = new Set(candidates.map(({ refusals }) => refusals[0]?.text ?? ''));
  const [shared] = texts;
  if (candidates.length === 1) return `The only node cannot run it: ${first.name} ${shared ?? ''}.`;
  return `None of ${plural(candidates.length, 'node')} can run it${texts.size === 1 ? `: each ${shared ?? ''}` : ''}.`;
}

const isAway = ({ refusals }: Candidate): boolean => refusals.some(({ rule }) => rule === 'nodeAffinity' || rule === 'zone');

interface Place {
  /** 'pv/disk' */
  readonly name: string;
  readonly where: string;
}

/** Where the pod's volumes are that are not everywhere. */
function placesOf(pod: Pod, sight: Sight): readonly Place[] {
  return claimsOfPod(pod)
    .flatMap((key) => sight.volume(sight.claim(key)?.volumeName ?? '') ?? [])
    .filter(({ nodes }) => nodes !== undefined)
    .map(({ name, object }) => ({ name: `pv/${name}`, where: whereIs(object) }));
}

export function nodeFixes({ pod, candidates, sight }: Refused): readonly Fix[] {
  const nearest = (rule: string) => candidates.find(({ refusals }) => refusals.length === 1 && refusals[0]?.rule === rule);
  const [cordoned, unlabelled, tainted] = [nearest('cordoned'), nearest('nodeSelector'), nearest('taint')];
  const labels = Object.entries(pod.spec.nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`);
  const fixes: Fix[] = [];
  if (cordoned !== undefined) fixes.push({ text: `let ${cordoned.name} take pods again`, commands: [kubectl(undefined, 'uncordon', nodeName(cordoned))] });
  if (unlabelled !== undefined) {
    fixes.push({
      text: `label ${unlabelled.name} as the pod selects, if it is meant`,
      commands: [kubectl(undefined, 'label', 'node', nodeName(unlabelled), ...labels)],
    });
  }
  if (tainted !== undefined) {
    fixes.push({
      text: `give the pod a toleration for the taint of ${tainted.name}, or remove the taint`,
      commands: [kubectl(undefined, 'describe', 'node', nodeName(tainted))],
    });
  }
  if (candidates.length === 0) fixes.push({ text: 'add a node', commands: [] });
  return candidates.some(isAway) ? [...fixes, ...reach(placesOf(pod, sight))] : fixes;
}

const nodeName = ({ name }: Candidate): string => name.replace(/^node\//, '');

/** The volumes are where the nodes are not. */
function reach(places: readonly Place[]): readonly Fix[] {
  const [first] = places;
  if (first === undefined) return [];
  if (new Set(places.map(({ where }) => where)).size > 1) {
    const list = places.map(({ name, where }) => `${name} in ${where}`).join(', ');
    return [{ text: `its volumes are apart (${list}), so no node reaches all of them: use claims of one place`, commands: [] }];
  }
  return [
    {
      text: `add a node in ${first.where}, or make one there usable: the data of ${first.name} is nowhere else`,
      commands: ['kubectl get nodes -L topology.kubernetes.io/zone'],
    },
    { text: 'for new claims: a class with volumeBindingMode WaitForFirstConsumer has volumes made where their pods can run', commands: [] },
  ];
}
