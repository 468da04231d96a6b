/** ResourceQuotas that refuse a pod or a claim: a controller that creates one gets an error, which no object but an Event records. */
import type { PersistentVolumeClaim, Pod, PodTemplateSpec, ResourceQuota } from '../../api/generated/types.ts';
import { claimEvaluator } from '../../api/quota/claims.ts';
import type { Evaluator } from '../../api/quota/evaluator.ts';
import { meterOf, readMeter } from '../../api/quota/meter.ts';
import { podEvaluator } from '../../api/quota/pods.ts';
import { addUsage, describeUsage, exceeded, parseUsage } from '../../api/quota/usage.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { kubectl } from '../explanation/commands.ts';
import type { Diagnosis } from '../explanation/explanation.ts';
import { listed } from '../explanation/words.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';

export interface QuotaRefusal {
  readonly quota: string;
  /** 'requested requests.storage=5Gi, used 8Gi of 10Gi', as the server says it. */
  readonly text: string;
}

export const podOf = (namespace: string, { metadata, spec }: PodTemplateSpec): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...metadata, namespace },
  spec,
  status: {},
});

export const podRefusals = (pod: Pod, graph: ObjectGraph): readonly QuotaRefusal[] => refusalsOf(pod, podEvaluator, graph);
export const claimRefusals = (claim: PersistentVolumeClaim, graph: ObjectGraph): readonly QuotaRefusal[] => refusalsOf(claim, claimEvaluator, graph);

function refusalsOf(object: KubeObject, evaluator: Evaluator, graph: ObjectGraph): readonly QuotaRefusal[] {
  return graph.quotas
    .filter(({ metadata }) => metadata.namespace === object.metadata.namespace)
    .flatMap((quota) => {
      const meter = meterOf(quota, evaluator);
      if (meter === undefined) return [];
      const requested = readMeter(meter, object, graph.now);
      const { used, hard } = usageOf(quota);
      const names = exceeded(addUsage(used, requested), hard).filter((name) => requested.has(name));
      if (names.length === 0) return [];
      const of = (usage: typeof used) => describeUsage(usage, names);
      return [{ quota: quota.metadata.name, text: `requested: ${of(requested)}, used: ${of(used)}, limited: ${of(hard)}` }];
    });
}

const usageOf = ({ spec, status }: Stored<ResourceQuota>) => ({ used: parseUsage(status.used), hard: parseUsage(status.hard ?? spec.hard) });

/** `what`: 'pod/db-2', 'pvc/data-db-2'. */
export function quotaExceeded(what: string, refusals: readonly QuotaRefusal[], namespace: string): Diagnosis {
  const names = refusals.map(({ quota }) => quota);
  return {
    verdict: 'stuck',
    code: 'QuotaExceeded',
    summary: `${what} cannot be created: ${listed(names.map((name) => `ResourceQuota ${name}`))} ${names.length === 1 ? 'refuses' : 'refuse'} it.`,
    facts: refusals.map(({ quota, text }) => ({ label: `quota/${quota}`, text })),
    fixes: [
      { text: 'raise the limit of the quota', commands: names.map((name) => kubectl(namespace, 'edit', 'resourcequota', name)) },
      { text: 'or delete what is not needed in the namespace, or request less', commands: [kubectl(namespace, 'describe', 'resourcequota', ...names)] },
    ],
    next: { who: 'an administrator', does: 'raises the quota; the controller tries again by itself' },
  };
}
