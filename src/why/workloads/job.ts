import type { Job } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { kubectl } from '../explanation/commands.ts';
import { type Diagnosis, explanationOf, nothingToDo, type ObjectExplanation } from '../explanation/explanation.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import { podOf, podRefusals, quotaExceeded } from '../quotas/quota-refusals.ts';
import { explainWorkload } from './workload.ts';

export function explainJob(job: Stored<Job>, graph: ObjectGraph): ObjectExplanation {
  const { namespace = '', name } = job.metadata;
  const about = { kind: 'job' as const, namespace, name };
  const ended = endOf(job);
  if (ended !== undefined) return explanationOf(about, { state: ended.state, since: ended.since }, ended.diagnosis);
  const pods = graph.podsOwnedBy(job.metadata.uid).filter((pod) => !hasEnded(pod));
  const refusals = podRefusals(podOf(namespace, job.spec.template), graph);
  const refusal = refusals.length === 0 ? undefined : quotaExceeded(`A pod of job/${name}`, refusals, namespace);
  const left = (job.spec.completions ?? 1) - (job.status.succeeded ?? 0);
  const wanted = Math.max(1, Math.min(job.spec.parallelism ?? 1, left));
  return explainWorkload({ about, object: job, wanted, ready: job.status.ready ?? 0, pods, refusal, controller: 'the Job controller' }, graph);
}

interface JobEnd {
  readonly state: string;
  readonly since: string | undefined;
  readonly diagnosis: Diagnosis;
}

/** Complete, failed or suspended; undefined: its pods are to run. */
function endOf({ metadata: { namespace, name }, spec, status }: Stored<Job>): JobEnd | undefined {
  const condition = (type: string) => status.conditions?.find((each) => each.type === type && each.status === 'True');
  const failed = condition('Failed') ?? condition('FailureTarget');
  if (failed !== undefined) {
    return {
      state: 'Failed',
      since: failed.lastTransitionTime ?? undefined,
      diagnosis: {
        verdict: 'stuck',
        code: failed.reason ?? 'JobFailed',
        summary: `The Job has failed: ${failed.message ?? failed.reason ?? 'its pods did'}. It starts no more pods.`,
        fixes: [
          { text: 'read the log of its last pod', commands: [kubectl(namespace, 'logs', `job/${name}`)] },
          { text: 'correct it and create it again: the pod template of a Job cannot be changed', commands: [kubectl(namespace, 'delete', 'job', name)] },
        ],
        next: { who: 'you', does: 'create the Job again' },
      },
    };
  }
  const complete = condition('Complete');
  if (complete !== undefined) {
    const diagnosis: Diagnosis = { verdict: 'fine', code: 'Complete', summary: 'The Job is complete.', next: nothingToDo };
    return { state: 'Complete', since: status.completionTime, diagnosis };
  }
  if (spec.suspend !== true) return undefined;
  return {
    state: 'Suspended',
    since: condition('Suspended')?.lastTransitionTime ?? undefined,
    diagnosis: {
      verdict: 'waiting',
      code: 'Suspended',
      summary: 'The Job is suspended: it runs no pods until spec.suspend is false.',
      fixes: [{ text: 'resume it', commands: [kubectl(namespace, 'patch', 'job', name, '-p', '{"spec":{"suspend":false}}')] }],
      next: { who: 'you', does: 'resume it' },
    },
  };
}
