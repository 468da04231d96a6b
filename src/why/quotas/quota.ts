/** A ResourceQuota: what is used up. */
import type { ResourceQuota } from '../../api/generated/types.ts';
import { compareQuantities, formatQuantity } from '../../api/quantity.ts';
import { parseUsage } from '../../api/quota/usage.ts';
import type { Stored } from '../../api/stored.ts';
import { kubectl } from '../explanation/commands.ts';
import { explanationOf, nothingToDo, type ObjectExplanation } from '../explanation/explanation.ts';
import { listed } from '../explanation/words.ts';

export function explainQuota({ metadata, spec, status }: Stored<ResourceQuota>): ObjectExplanation {
  const { namespace = '', name } = metadata;
  const [used, hard] = [parseUsage(status.used), parseUsage(status.hard ?? spec.hard)];
  const limits = [...hard].map(([resource, limit]) => {
    const amount = used.get(resource);
    return {
      resource,
      isFull: amount !== undefined && compareQuantities(amount, limit) >= 0,
      text: `${amount === undefined ? '?' : formatQuantity(amount)} of ${formatQuantity(limit)}`,
    };
  });
  const full = limits.filter(({ isFull }) => isFull).map(({ resource }) => resource);
  return explanationOf(
    { kind: 'quota', namespace, name },
    { state: full.length === 0 ? 'Free' : 'Full', since: undefined },
    {
      verdict: full.length === 0 ? 'fine' : 'waiting',
      code: full.length === 0 ? 'QuotaFree' : 'QuotaFull',
      summary:
        full.length === 0
          ? 'Nothing that the quota limits is used up.'
          : `All of ${listed(full)} is used: the server refuses every object in namespace ${namespace} that needs more of it.`,
      facts: limits.map(({ resource, text }) => ({ label: resource, text })),
      fixes:
        full.length === 0
          ? []
          : [
              { text: 'raise the limit', commands: [kubectl(namespace, 'edit', 'resourcequota', name)] },
              { text: 'or delete what is not needed in the namespace', commands: [kubectl(namespace, 'get', 'all,pvc')] },
            ],
      next: full.length === 0 ? nothingToDo : { who: 'an administrator', does: 'raises the limit, if more is needed' },
    },
  );
}
