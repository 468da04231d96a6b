import { untypedKind } from '../../../api/kind.ts';
import { isFinished } from '../../../api/kinds/batch/job-conditions.ts';
import { jobKind } from '../../../api/kinds/batch/job.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { keyOf } from '../../../client/informers/cache.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import { RecordedEvents } from '../../../client/events/event-dedup.ts';
import { OrphanIndex } from '../../pods/orphan-index.ts';
import { controllerUid } from '../../pods/ownership.ts';
import { ownerKeys } from '../../pods/owner-keys.ts';
import type { JobAction } from './actions.ts';
import { decideJob, type JobSnapshot } from './decide.ts';
import type { Backoff } from './backoff.ts';
import { type JobContext, jobHandlers } from './perform.ts';

export interface JobOptions extends JobContext {
  readonly informers: Informers;
}

/** Runs pods until enough of them have succeeded. Keys are those of Jobs: 'namespace/name'. */
export function jobController({ informers, ...context }: JobOptions): Controller<string, JobSnapshot, JobAction> {
  const jobs = informers.cache(jobKind);
  const podsByOwner = informers.cache(podKind).addIndex(controllerUid);
  const orphans = new OrphanIndex(informers.cache(podKind));
  const failures = new Map<string, Backoff>();
  return defineController({
    name: 'job',
    sources: [
      source(jobKind, ({ before, after }) => {
        const isOver = after === undefined || after.metadata.uid !== before?.metadata.uid || isFinished(after.status);
        if (isOver) failures.delete(before?.metadata.uid ?? '');
        return [keyOf((after ?? before)?.metadata ?? {})];
      }),
      source(podKind, (change) => ownerKeys(change, { kind: jobKind.kind, inNamespace: (namespace) => jobs.inNamespace(namespace) })),
    ],
    snapshot(key) {
      const job = jobs.getKey(key);
      if (job === undefined) return undefined;
      const { uid, namespace } = job.metadata;
      return { job, candidates: [...podsByOwner.get(uid), ...orphans.candidates(namespace, job.spec.selector)], backoff: failures.get(uid) };
    },
    decide: decideJob,
    writer: new ObjectWriter(context.client, [untypedKind(jobKind)]),
    events: new RecordedEvents(context.recorder, context.clock),
    actions: jobHandlers(context, failures),
    parallelism: 16,
    backoff: { firstMs: 1_000, longestMs: 60_000 },
  });
}
