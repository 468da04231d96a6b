/**
 * Explains an object from the objects alone, with the controllers' own decisions: the same objects give the same explanation, independent
 * of Events.
 */
import { nearestNames } from '../api/nearest-name.ts';
import { claimKey } from '../storage/volumes/claim.ts';
import { explainAttachment } from './attachments/attachment.ts';
import { explainClaim } from './volumes/claim.ts';
import { kubectl, moorWhy } from './explanation/commands.ts';
import { type ObjectExplanation, explanationOf, type Explanation, type Fix } from './explanation/explanation.ts';
import type { ClusterObjects } from './graph/cluster-objects.ts';
import { explainPod } from './pods/pod.ts';
import { ObjectGraph } from './graph/object-graph.ts';
import { rfc3339 } from './explanation/timestamps.ts';
import { isNamespaced, type Target } from './explanation/target.ts';
import { explainVolume } from './volumes/volume.ts';
import { listed, someOf } from './explanation/words.ts';

/** `now`: milliseconds since 1970. */
export function explain(target: Target, objects: ClusterObjects, now: number): Explanation {
  const graph = new ObjectGraph(objects, now);
  return { ...(explainTarget(target, graph) ?? absent(target, objects, graph)), asOf: rfc3339(now), unseen: objects.unseen };
}

function explainTarget({ kind, namespace = '', name }: Target, graph: ObjectGraph): ObjectExplanation | undefined {
  switch (kind) {
    case 'pvc': {
      const claim = graph.claim(claimKey(namespace, name));
      return claim === undefined ? undefined : explainClaim(claim, graph);
    }
    case 'pv': {
      const volume = graph.volume(name);
      return volume === undefined ? undefined : explainVolume(volume, graph);
    }
    case 'pod': {
      const pod = graph.pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
      return pod === undefined ? undefined : explainPod(pod, graph);
    }
    case 'va': {
      const attachment = graph.attachments.find(({ metadata }) => metadata.name === name);
      return attachment === undefined ? undefined : explainAttachment(attachment, graph);
    }
  }
}

function absent(target: Target, { elsewhere = [] }: ClusterObjects, graph: ObjectGraph): ObjectExplanation {
  const { kind, namespace, name } = target;
  const where = isNamespaced(kind) ? ` in namespace ${namespace ?? ''}` : '';
  const near = nearestNames(name, namesOf(target, graph));
  const hint =
    elsewhere.length > 0
      ? ` There is one in ${listed(elsewhere.map((each) => `namespace ${each}`))}.`
      : near.length > 0
        ? ` Is ${listed(
            near.map((each) => `${kind}/${each}`),
            'or',
          )} meant?`
        : '';
  const fixes: readonly Fix[] = [
    ...elsewhere.slice(0, 3).map((each) => ({ text: `explain the one in namespace ${each}`, commands: [moorWhy(each, `${kind}/${name}`)] })),
    ...(elsewhere.length > 0 ? [] : near.map((each) => ({ text: `explain ${kind}/${each}`, commands: [moorWhy(namespace, `${kind}/${each}`)] }))),
  ];
  return explanationOf(
    target,
    { state: 'NotFound', since: undefined },
    {
      verdict: 'absent',
      code: 'NotFound',
      summary: `There is no ${kind}/${name}${where}.${hint}`,
      fixes: fixes.length > 0 ? fixes : [{ text: 'list what there is', commands: [kubectl(namespace, 'get', kind === 'va' ? 'volumeattachments' : kind)] }],
      next: {
        who: 'you',
        does: elsewhere.length > 0 ? 'name the namespace' : near.length > 0 ? `check the name: ${someOf(near)}` : 'check the name',
      },
    },
  );
}

function namesOf({ kind, namespace }: Target, graph: ObjectGraph): readonly string[] {
  switch (kind) {
    case 'pvc':
      return graph.claims.filter((claim) => claim.namespace === namespace).map(({ name }) => name);
    case 'pv':
      return graph.volumes.map(({ name }) => name);
    case 'pod':
      return graph.pods.filter(({ metadata }) => metadata.namespace === namespace).map(({ metadata }) => metadata.name);
    case 'va':
      return graph.attachments.map(({ metadata }) => metadata.name);
  }
}
