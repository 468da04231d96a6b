import type { Kind } from '../kind.ts';
import { claimEvaluator } from './claims.ts';
import { countEvaluator, countName, type Evaluator } from './evaluator.ts';
import { podEvaluator } from './pods.ts';
import { serviceEvaluator } from './services.ts';

/** The evaluator of a kind; undefined: its objects do not count. */
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

/** Namespaced kinds that can be created, deleted and watched; but not events, which expire by themselves. */
function isCounted(kind: Kind): boolean {
  return kind.namespaced && kind.storage.resource !== 'events' && (['create', 'delete', 'list', 'watch'] as const).every((verb) => kind.verbs.includes(verb));
}

/** Kinds of Kubernetes that this server may lack: a quota on them has a usage of zero. */
const absentKinds = [
  { group: '', plural: 'podtemplates' },
  { group: 'resource.k8s.io', plural: 'resourceclaims' },
  { group: 'resource.k8s.io', plural: 'resourceclaimtemplates' },
];
const absentNames: ReadonlySet<string> = new Set(absentKinds.map(countName));

/** Whether Kubernetes measures this name, although this server may not serve its kind. */
export const isMeasuredAnyway = (name: string): boolean => absentNames.has(name) || name.endsWith('.deviceclass.resource.k8s.io/devices');
