import type { Job } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { isFinished } from '../../../api/kinds/batch/job-conditions.ts';
import { jobKind } from '../../../api/kinds/batch/job.ts';
import { keyOf } from '../../../client/informers/cache.ts';
import { type Client, refOf } from '../../../client/client.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, outcomeOf, source } from '../../../client/controller/loop.ts';
import type { TtlAfterFinishedAction } from './actions.ts';
import { decideExpiry } from './decide.ts';

export interface TtlAfterFinishedOptions {
  readonly client: Client;
  readonly informers: Informers;
}

/** Deletes finished Jobs after ttlSecondsAfterFinished. Keys are those of Jobs: 'namespace/name'. */
export function ttlAfterFinished({ client, informers }: TtlAfterFinishedOptions): Controller<string, Stored<Job>, TtlAfterFinishedAction> {
  const jobs = informers.cache(jobKind);
  return defineController({
    name: 'job-expiry',
    sources: [source(jobKind, ({ after }) => (after !== undefined && mayExpire(after) ? [keyOf(after.metadata)] : []))],
    snapshot: (key) => jobs.getKey(key),
    decide: decideExpiry,
    actions: {
      async delete({ job }) {
        const { uid, resourceVersion } = job.metadata;
        return outcomeOf(await client.delete(jobKind, refOf(job), { preconditions: { uid, resourceVersion }, propagation: 'Foreground' }));
      },
    },
    parallelism: 16,
  });
}

const mayExpire = ({ spec, status }: Job): boolean => spec.ttlSecondsAfterFinished !== undefined && isFinished(status);
