/** What would let a pod onto a node. */
import type { Pod } from '../api/generated/types.ts';
import { claimsOfPod } from '../domain/volumes/pods.ts';
import { kubectl } from './commands.ts';
import type { Candidate, Fix } from './explanation.ts';
import type { Sight } from './sight.ts';
import { plural, whereIs } from './words.ts';

/** In a sentence, with the reason if all share one. */
export function noNode(candidates: readonly Candidate[]): string {
  const [first] = candidates;
  if (first === undefined) return 'There are no nodes.';
  const texts = new Set(candidates.map(({ refusals }) => refusals[0]?.text ?? ''));
  const [shared] = texts;
  if (candidates.length === 1) return `The only node cannot run it: ${first.name} ${shared ?? ''}.`;
  return `None of ${plural(candidates.length, 'node')} can run it${texts.size === 1 ? `: each ${shared ?? ''}` : ''}.`;
}

interface Refused {
  readonly pod: Pod;
  readonly candidates: readonly Candidate[];
  readonly sight: Sight;
}

export function nodeFixes({ pod, candidates, sight }: Refused): readonly Fix[] {
  const away = candidates.some(({ refusals }) => refusals.some(({ rule }) => rule === 'nodeAffinity' || rule === 'zone'));
  const nearest = (rule: string) => candidates.find(({ refusals }) => refusals.length === 1 && refusals[0]?.rule === rule);
  const [cordoned, unlabelled, tainted] = [nearest('cordoned'), nearest('nodeSelector'), nearest('taint')];
  const labels = Object.entries(pod.spec.nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`);
  return [
    ...(away ? reach(pod, sight) : []),
    ...(cordoned === undefined ? [] : [{ text: `let ${cordoned.name} take pods again`, commands: [kubectl(undefined, 'uncordon', nodeName(cordoned))] }]),
    ...(unlabelled === undefined
      ? []
      : [
          {
            text: `label ${unlabelled.name} as the pod selects, if it is meant`,
            commands: [kubectl(undefined, 'label', 'node', nodeName(unlabelled), ...labels)],
          },
        ]),
    ...(tainted === undefined
      ? []
      : [
          {
            text: `give the pod a toleration for the taint of ${tainted.name}, or remove the taint`,
            commands: [kubectl(undefined, 'describe', 'node', nodeName(tainted))],
          },
        ]),
    ...(candidates.length === 0 ? [{ text: 'add a node', commands: [] }] : []),
  ];
}

const nodeName = ({ name }: Candidate): string => name.replace(/^node\//, '');

/** Its volumes are where the nodes are not. */
function reach(pod: Pod, sight: Sight): readonly Fix[] {
  const places = claimsOfPod(pod)
    .flatMap((key) => sight.volume(sight.claim(key)?.volumeName ?? '') ?? [])
    .filter(({ nodes }) => nodes !== undefined)
    .map(({ name, object }) => ({ name: `pv/${name}`, where: whereIs(object) }));
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
