import type { CronJob } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { untypedKind } from '../../../api/kind.ts';
import { cronJobKind } from '../../../api/kinds/batch/cron-job.ts';
import { jobKind } from '../../../api/kinds/batch/job.ts';
import { type Change, keyOf } from '../../../client/informers/cache.ts';
import { type Client, type Draft, refOf, type Result } from '../../../client/client.ts';
import { confirmGone } from '../../../client/controller/confirm.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, source } from '../../../client/controller/loop.ts';
import type { RecordedEvents } from '../../../client/events/event-dedup.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import type { Clock } from '../../../world/world.ts';
import { controllerOf } from '../../pods/ownership.ts';
import { type CronJobAction, createdJob, deletedJob, failedCreate, failedDelete } from './actions.ts';
import { decideCronJob, type CronJobSnapshot } from './decide.ts';
import type { Job } from '../../../api/generated/types.ts';

export interface CronJobOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recordedEvents: RecordedEvents;
  readonly clock: Clock;
}

/** Starts Jobs on schedule. Keys are those of CronJobs: 'namespace/name'. */
export function cronJobController({ client, informers, recordedEvents, clock }: CronJobOptions): Controller<string, CronJobSnapshot, CronJobAction> {
  const cronJobs = informers.cache(cronJobKind);
  const jobs = informers.cache(jobKind);
  const jobsByOwner = jobs.addIndex((job) => ownersOf(job).map(({ uid }) => uid));
  const changes = new ScheduleChanges(clock);
  return defineController({
    name: 'cron-job',
    sources: [
      source(cronJobKind, (change) => {
        changes.observe(change);
        return [keyOf((change.after ?? change.before)?.metadata ?? {})];
      }),
      source(jobKind, ({ before, after }) => [before, after].flatMap((job) => (job === undefined ? [] : keysOfOwners(job)))),
    ],
    snapshot(key) {
      const cronJob = cronJobs.getKey(key);
      if (cronJob === undefined) return undefined;
      const { namespace, uid } = cronJob.metadata;
      return {
        cronJob,
        jobs: jobsByOwner.get(uid),
        jobNamed: (name) => jobs.get({ namespace, name }),
        changedAt: changes.of(uid),
        recorded: recordedEvents.lastEvent,
      };
    },
    decide: decideCronJob,
    writer: new ObjectWriter(client, [untypedKind(cronJobKind)]),
    events: recordedEvents,
    actions: new CronJobWorker(client, recordedEvents).handlers,
    parallelism: 16,
  });
}

function ownersOf(job: Stored<Job>) {
  const owner = controllerOf(job);
  return owner?.kind === cronJobKind.kind ? [owner] : [];
}

const keysOfOwners = (job: Stored<Job>): readonly string[] => ownersOf(job).map(({ name }) => keyOf({ namespace: job.metadata.namespace, name }));

/** A changed schedule does not start Jobs for times before the change. */
class ScheduleChanges {
  readonly #clock: Clock;
  readonly #changedAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  observe({ before, after }: Change<CronJob>): void {
    if (before === undefined) return;
    const { uid } = before.metadata;
    if (after?.metadata.uid !== uid) this.#changedAt.delete(uid);
    else if (!isSameSchedule(before, after)) this.#changedAt.set(uid, this.#clock.now());
  }

  of(uid: string): number | undefined {
    return this.#changedAt.get(uid);
  }
}

const isSameSchedule = (a: CronJob, b: CronJob): boolean => a.spec.schedule === b.spec.schedule && a.spec.timeZone === b.spec.timeZone;

class CronJobWorker {
  readonly #client: Client;
  readonly #recordedEvents: RecordedEvents;

  constructor(client: Client, recordedEvents: RecordedEvents) {
    this.#client = client;
    this.#recordedEvents = recordedEvents;
  }

  readonly handlers = {
    confirmJobGone: ({ job }: Extract<CronJobAction, { readonly do: 'confirmJobGone' }>) => confirmGone(this.#client, jobKind, job),
    createJob: ({ cronJob, job }: Extract<CronJobAction, { readonly do: 'createJob' }>) => this.#create(cronJob, job),
    deleteJob: ({ cronJob, job }: Extract<CronJobAction, { readonly do: 'deleteJob' }>) => this.#delete(cronJob, job),
  };

  async #create(cronJob: Stored<CronJob>, job: Draft<Job>): Promise<Outcome> {
    const result = await this.#client.create(jobKind, job);
    if (result.ok) this.#recordedEvents.record({ about: cronJob, ...createdJob(result.value.metadata.name) });
    // The namespace is terminating, and the CronJob with it.
    if (!result.ok && result.reason === 'terminating') return 'done';
    return this.#recordFailure(cronJob, result, failedCreate);
  }

  async #delete(cronJob: Stored<CronJob>, job: Stored<Job>): Promise<Outcome> {
    const { name, uid } = job.metadata;
    const result = await this.#client.delete(jobKind, refOf(job), { preconditions: { uid }, propagation: 'Background' });
    if (result.ok) this.#recordedEvents.record({ about: cronJob, ...deletedJob(name) });
    if (!result.ok && result.reason === 'notFound') return 'done';
    return this.#recordFailure(cronJob, result, failedDelete);
  }

  #recordFailure(cronJob: CronJob, result: Result<unknown>, report: (error: string) => ReturnType<typeof failedCreate>): Outcome {
    const outcome = outcomeOf(result);
    if (typeof outcome === 'object') this.#recordedEvents.record({ about: cronJob, ...report(outcome.retry) });
    return outcome;
  }
}
