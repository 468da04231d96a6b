import type { Namespace } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { kubectl } from '../explanation/commands.ts';
import { type Diagnosis, explanationOf, nothingToDo, type ObjectExplanation } from '../explanation/explanation.ts';
import { timeOf } from '../explanation/timestamps.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { explainQuota } from '../quotas/quota.ts';

export function explainNamespace(namespace: Stored<Namespace>, graph: ObjectGraph): ObjectExplanation {
  const { name, deletionTimestamp, creationTimestamp } = namespace.metadata;
  const isTerminating = deletionTimestamp !== undefined || namespace.status.phase === 'Terminating';
  return explanationOf(
    { kind: 'ns', name },
    { state: isTerminating ? 'Terminating' : 'Active', since: deletionTimestamp ?? creationTimestamp },
    isTerminating ? terminating(namespace, graph) : active(name, graph),
  );
}

function active(name: string, graph: ObjectGraph): Diagnosis {
  const full = graph.quotas
    .filter(({ metadata }) => metadata.namespace === name)
    .map(explainQuota)
    .filter(({ verdict }) => verdict !== 'fine');
  if (full.length === 0) return { verdict: 'fine', code: 'Active', summary: 'The namespace is active, and no quota of it is used up.', next: nothingToDo };
  return {
    verdict: 'waiting',
    code: 'QuotaFull',
    summary: 'The namespace is active, but a quota of it is used up.',
    parts: full,
    next: { who: 'an administrator', does: 'raises the quota, if more is needed' },
  };
}

/** The namespace controller writes into the conditions what is left. */
function terminating({ metadata, status }: Stored<Namespace>, graph: ObjectGraph): Diagnosis {
  const left = (status.conditions ?? []).filter((condition) => condition.status === 'True');
  const since = timeOf(metadata.deletionTimestamp);
  const isLong = since !== undefined && graph.now - since > emptiedWithinMs;
  return {
    verdict: isLong ? 'stuck' : 'waiting',
    code: 'NamespaceTerminating',
    summary:
      left.length === 0
        ? 'The namespace is being deleted, with all that is in it.'
        : `The namespace is being deleted, and objects in it are left: ${left.map(({ message = '' }) => message).join('; ')}.`,
    facts: left.map(({ type, message = '' }) => ({ label: type, text: message })),
    fixes: isLong
      ? [
          {
            text: 'remove what is left; a finalizer waits for a controller, which may not run',
            commands: [kubectl(metadata.name, 'get', 'all,pvc'), kubectl(undefined, 'get', 'namespace', metadata.name, '-o', 'yaml')],
          },
        ]
      : [],
    next: { who: 'the namespace controller', does: 'removes the rest as soon as its finalizers allow' },
  };
}

const emptiedWithinMs = 60_000;
