import type { Kind } from '../kind.ts';
import { claimEvaluator } from './claims.ts';
import { countEvaluator, countName, type Evaluator } from './evaluator.ts';
import { podEvaluator } from './pods.ts';
import { serviceEvaluator } from './services.ts';

/** How the objects of a kind count; undefined: they do not. */
export function evaluatorOf(kind: Kind): Evaluator | undefined {
  if (!isCounted(kind)) return undefined;
  if (kind.group !== '') return countEvaluator(kind);
  switch (kind.plural) {
    case 'pods':
      return podEvaluator;
    case 'persistentvolumeclaims':
      return claimEvaluator;
    case 'services':
      return serviceEvaluator;
    default:
      return countEvaluator(kind);
  }
}

/** What can be made, deleted and followed in a namespace; but not events, which come and go by themselves. */
function isCounted(kind: Kind): boolean {
  return kind.namespaced && kind.storage.resource !== 'events' && (['create', 'delete', 'list', 'watch'] as const).every((verb) => kind.verbs.includes(verb));
}

/** Kinds of Kubernetes that a server may lack. Their objects are counted there, and cannot exist here: a quota on them says zero. */
const absentKinds = [
  { group: '', plural: 'podtemplates' },
  { group: 'resource.k8s.io', plural: 'resourceclaims' },
  { group: 'resource.k8s.io', plural: 'resourceclaimtemplates' },
];
const absentNames: ReadonlySet<string> = new Set(absentKinds.map(countName));

/** Whether Kubernetes measures this name although no kind that is served here may be behind it. */
export const isMeasuredAnyway = (name: string): boolean => absentNames.has(name) || name.endsWith('.deviceclass.resource.k8s.io/devices');
