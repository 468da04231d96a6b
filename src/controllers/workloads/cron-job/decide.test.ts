import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CronJob, CronJobSpec, CronJobStatus, Job } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { CronJobAction, JobDraft } from './actions.ts';
import { decideCronJob, type CronJobSnapshot } from './decide.ts';

const at = (time: string): number => Date.parse(time.includes('T') ? time : `2026-11-16T${time}Z`);
const minutes = (time: string): number => at(time) / 60_000;

const cronJob = (spec: Partial<CronJobSpec> = {}, status: CronJobStatus = {}, metadata: object = {}): Stored<CronJob> => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'backup', namespace: 'team', uid: 'u1', resourceVersion: '1', creationTimestamp: '2026-11-16T09:30:00Z', ...metadata },
  spec: {
    schedule: '0 * * * *',
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
    jobTemplate: {
      metadata: { labels: { tier: 'storage' }, annotations: { why: 'policy' } },
      spec: { template: { metadata: {}, spec: { containers: [] } } },
    },
    ...spec,
  },
  status,
});

const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'backup', uid: 'u1', controller: true, blockOwnerDeletion: true };

/** As this controller creates it, for that time. */
function job(time: string, finish?: 'Complete' | 'Failed', more: object = {}): Stored<Job> {
  const name = `backup-${minutes(time)}`;
  const conditions = finish === undefined ? [] : [{ type: finish, status: 'True', lastProbeTime: null, lastTransitionTime: null }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: 'team',
      uid: `uid of ${name}`,
      resourceVersion: '7',
      annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': new Date(at(time)).toISOString().replace('.000', '') },
      ownerReferences: [owner],
      ...more,
    },
    spec: { template: { metadata: {}, spec: { containers: [] } } },
    status: { conditions, startTime: `2026-11-16T${time}Z`, ...(finish === 'Complete' ? { completionTime: `2026-11-16T${time.slice(0, 6)}30Z` } : {}) },
  };
}

const reference = (of: Stored<Job>) => ({
  kind: 'Job',
  namespace: 'team',
  name: of.metadata.name,
  uid: of.metadata.uid,
  apiVersion: 'batch/v1',
  resourceVersion: '7',
});

interface World {
  readonly cronJob: Stored<CronJob>;
  readonly jobs?: readonly Stored<Job>[];
  readonly foreign?: readonly Stored<Job>[];
  readonly changedAt?: number;
  readonly recorded?: ReadonlyMap<string, string>;
}

function seen({ cronJob: of, jobs = [], foreign = [], changedAt, recorded = new Map() }: World): CronJobSnapshot {
  const message = (key: string) => recorded.get(key);
  return {
    cronJob: of,
    jobs,
    jobNamed: (name) => [...jobs, ...foreign].find(({ metadata }) => metadata.name === name),
    changedAt,
    recorded: (key) => {
      const said = message(key);
      return said === undefined ? undefined : { message: said };
    },
  };
}

/** The actions as text. */
function done(world: World, now: string): string[] {
  return decideCronJob(seen(world), at(now)).actions.map(inWords);
}

function inWords(action: CronJobAction): string {
  switch (action.do) {
    case 'createJob':
      return `create ${action.job.metadata?.name ?? ''}`;
    case 'deleteJob':
      return `delete ${action.job.metadata.name}`;
    case 'confirmJobGone':
      return `confirm that ${action.job.name} is gone`;
    case 'recordEvent':
      return `${action.event.type} ${action.event.reason}: ${action.event.message}`;
    case 'updateStatus': {
      const { active = [], lastScheduleTime = 'never', lastSuccessfulTime = 'never' } = action.object.status;
      return `status: ${active.map(({ name }) => name).join(' ')}; last ${lastScheduleTime}; successful ${lastSuccessfulTime}`;
    }
    default:
      return action.do;
  }
}

describe('at a scheduled time', () => {
  test('a job of the template is created, named after the minute', () => {
    const { actions, again } = decideCronJob(seen({ cronJob: cronJob({ timeZone: 'Europe/Berlin' }) }), at('10:00:00'));
    expect(actions).toMatchObject([
      {
        do: 'createJob',
        job: {
          metadata: {
            namespace: 'team',
            name: `backup-${minutes('10:00:00')}`,
            labels: { tier: 'storage' },
            annotations: { why: 'policy', 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-11-16T11:00:00+01:00' },
            ownerReferences: [owner],
          },
        },
      },
    ]);
    expect(again).toBe(at('11:00:00') + 100);
  });

  test('none is created before', () => {
    expect(done({ cronJob: cronJob() }, '09:59:59')).toEqual([]);
    expect(decideCronJob(seen({ cronJob: cronJob() }), at('09:59:59')).again).toBe(at('10:00:00') + 100);
  });

  test('a created job is added to the status, and lastScheduleTime is set', () => {
    const made = job('10:00:00');
    expect(done({ cronJob: cronJob(), jobs: [made] }, '10:00:01')).toEqual([`status: ${made.metadata.name}; last 2026-11-16T10:00:00Z; successful never`]);
    const written = cronJob({}, { active: [reference(made)], lastScheduleTime: '2026-11-16T10:00:00Z' });
    expect(done({ cronJob: written, jobs: [made] }, '10:00:01')).toEqual([]);
  });

  test('only the latest of several missed times gets a job', () => {
    expect(done({ cronJob: cronJob({}, { lastScheduleTime: '2026-11-16T10:00:00Z' }) }, '15:20:00')).toEqual([`create backup-${minutes('15:00:00')}`]);
  });

  test('if a foreign job has that name, nothing happens until the next time', () => {
    const other = job('10:00:00', undefined, { ownerReferences: [] });
    expect(done({ cronJob: cronJob(), foreign: [other] }, '10:00:01')).toEqual([]);
    expect(decideCronJob(seen({ cronJob: cronJob(), foreign: [other] }), at('10:00:01')).again).toBe(at('11:00:00') + 100);
  });

  test('more than a hundred missed times give a warning', () => {
    const since = cronJob({ schedule: '* * * * *' }, { lastScheduleTime: '2026-11-16T08:00:00Z' });
    expect(done({ cronJob: since }, '10:00:00')).toEqual([
      'Warning TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
      `create backup-${minutes('10:00:00')}`,
    ]);
  });

  test('times before a change of the schedule get no job', () => {
    expect(done({ cronJob: cronJob(), changedAt: at('10:30:00') }, '10:30:00')).toEqual([]);
    expect(decideCronJob(seen({ cronJob: cronJob(), changedAt: at('10:30:00') }), at('10:30:00')).again).toBe(at('11:00:00') + 100);
    expect(done({ cronJob: cronJob(), changedAt: at('10:30:00') }, '11:00:00')).toEqual([`create backup-${minutes('11:00:00')}`]);
  });

  test('times that were missed while suspended do', () => {
    expect(done({ cronJob: cronJob({ suspend: true }) }, '10:30:00')).toEqual([]);
    expect(done({ cronJob: cronJob({ suspend: false }) }, '10:30:00')).toEqual([`create backup-${minutes('10:00:00')}`]);
  });

  test('no job is started after startingDeadlineSeconds', () => {
    expect(done({ cronJob: cronJob({ startingDeadlineSeconds: 60 }) }, '10:00:59')).toEqual([`create backup-${minutes('10:00:00')}`]);
    expect(done({ cronJob: cronJob({ startingDeadlineSeconds: 60 }) }, '10:01:01')).toEqual([]);
  });

  test('nothing is started while it is being deleted', () => {
    expect(done({ cronJob: cronJob({}, {}, { deletionTimestamp: '2026-11-16T09:59:00Z' }) }, '10:00:00')).toEqual([]);
  });
});

describe('while a job still runs', () => {
  const running = job('10:00:00');
  const status = { active: [reference(running)], lastScheduleTime: '2026-11-16T10:00:00Z' };

  test('Allow starts the next beside it', () => {
    expect(done({ cronJob: cronJob({}, status), jobs: [running] }, '11:00:00')).toEqual([`create backup-${minutes('11:00:00')}`]);
  });

  test('Forbid waits, with one event for each time', () => {
    const world = { cronJob: cronJob({ concurrencyPolicy: 'Forbid' }, status), jobs: [running] };
    const text = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    expect(done(world, '11:00:00')).toEqual([`Normal JobAlreadyActive: ${text}`]);
    const recorded = new Map([[`u1 JobAlreadyActive ${at('11:00:00')}`, text]]);
    expect(done({ ...world, recorded: recorded }, '11:00:30')).toEqual([]);
    expect(done({ ...world, recorded: recorded }, '12:00:00')).toHaveLength(1);
  });

  test('Forbid starts as soon as that job has finished', () => {
    const finished = job('10:00:00', 'Failed');
    expect(done({ cronJob: cronJob({ concurrencyPolicy: 'Forbid' }, status), jobs: [finished] }, '11:20:00')).toEqual([
      'status: ; last 2026-11-16T10:00:00Z; successful never',
      `Normal SawCompletedJob: Saw completed job: ${finished.metadata.name}, condition: Failed`,
      `create backup-${minutes('11:00:00')}`,
    ]);
  });

  test('Replace deletes it first', () => {
    expect(done({ cronJob: cronJob({ concurrencyPolicy: 'Replace' }, status), jobs: [running] }, '11:00:00')).toEqual([
      `delete ${running.metadata.name}`,
      'status: ; last 2026-11-16T10:00:00Z; successful never',
      `create backup-${minutes('11:00:00')}`,
    ]);
  });
});

describe('the status follows the jobs', () => {
  test('success, and lastSuccessfulTime', () => {
    const jobs = [job('10:00:00', 'Complete'), job('11:00:00', 'Complete')];
    const status = { active: jobs.map(reference), lastScheduleTime: '2026-11-16T11:00:00Z' };
    expect(done({ cronJob: cronJob({}, status), jobs }, '11:05:00')).toEqual([
      'status: ; last 2026-11-16T11:00:00Z; successful 2026-11-16T11:00:30Z',
      ...jobs.map(({ metadata }) => `Normal SawCompletedJob: Saw completed job: ${metadata.name}, condition: Complete`),
    ]);
  });

  test('a job that vanished, once the server confirms it', () => {
    const gone = job('10:00:00');
    const status = { active: [reference(gone)], lastScheduleTime: '2026-11-16T10:00:00Z' };
    expect(done({ cronJob: cronJob({}, status) }, '10:10:00')).toEqual([
      `confirm that ${gone.metadata.name} is gone`,
      'status: ; last 2026-11-16T10:00:00Z; successful never',
      `Normal MissingJob: Active job went missing: ${gone.metadata.name}`,
    ]);
  });

  test('a foreign job with its owner reference only gives an event, once', () => {
    const strange = job('10:00:00', undefined, { name: 'by-hand', uid: 'u9', annotations: {} });
    const text = 'Saw a job that the controller did not create or forgot: by-hand';
    expect(done({ cronJob: cronJob(), jobs: [strange] }, '09:50:00')).toEqual([`Warning UnexpectedJob: ${text}`]);
    expect(done({ cronJob: cronJob(), jobs: [strange], recorded: new Map([['u1 UnexpectedJob u9', text]]) }, '09:50:00')).toEqual([]);
  });

  test('a job that finished before a crash left it out of the status is not created again, whatever the history limits', () => {
    const world = { cronJob: cronJob({ successfulJobsHistoryLimit: 0 }), jobs: [job('10:00:00', 'Complete')] };
    expect(done(world, '10:01:00')).toEqual([
      'status: ; last 2026-11-16T10:00:00Z; successful 2026-11-16T10:00:30Z',
      expect.stringContaining('SawCompletedJob'),
      `delete backup-${minutes('10:00:00')}`,
    ]);
  });
});

test('of the finished jobs the latest are kept, successes and failures apart', () => {
  const jobs = [
    ...['05', '06', '07', '08'].map((hour) => job(`${hour}:00:00`, 'Complete')),
    ...['05', '06'].map((hour) => job(`${hour}:30:00`, 'Failed')),
    job('04:00:00', 'Complete', { deletionTimestamp: '2026-11-16T09:00:00Z' }),
  ];
  const kept = cronJob({}, { lastScheduleTime: '2026-11-16T09:00:00Z', lastSuccessfulTime: '2026-11-16T08:00:30Z' });
  expect(done({ cronJob: kept, jobs }, '09:10:00')).toEqual([`delete backup-${minutes('05:00:00')}`, `delete backup-${minutes('05:30:00')}`]);
  const all = cronJob({ successfulJobsHistoryLimit: 9, failedJobsHistoryLimit: 9 }, kept.status);
  expect(done({ cronJob: all, jobs }, '09:10:00')).toEqual([]);
});

test.each([
  [{ timeZone: 'Europe/Atlantis' }, 'Warning UnknownTimeZone: invalid timeZone: "Europe/Atlantis": unknown time zone Europe/Atlantis'],
  [{ schedule: '61 * * * *' }, 'Warning UnparseableSchedule: unparseable schedule: "61 * * * *" : end of range (61) above maximum (59): 61'],
  [{ schedule: '0 0 31 2 *' }, 'Warning InvalidSchedule: invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second'],
  [
    { schedule: 'TZ=UTC 0 12 * * *' },
    'Warning UnsupportedSchedule: CRON_TZ or TZ used in schedule "TZ=UTC 0 12 * * *" is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
  ],
])('a spec that validation refuses gives an event and no job: %j', (spec, event) => {
  expect(done({ cronJob: cronJob(spec) }, '10:00:00')).toEqual([event]);
});

describe('for any snapshot', () => {
  const hour = fc.constantFrom('10:00:00', '11:00:00', '12:00:00', '13:00:00');
  const worlds = fc
    .record({
      policy: fc.constantFrom('Allow', 'Forbid', 'Replace'),
      kept: fc.constantFrom(0, 1, 3),
      jobs: fc.uniqueArray(fc.record({ time: hour, finish: fc.constantFrom(undefined, 'Complete' as const, 'Failed' as const), listed: fc.boolean() }), {
        selector: ({ time }) => time,
      }),
      gone: fc.boolean(),
      now: fc.constantFrom('13:00:00', '13:30:00', '14:00:01'),
    })
    .map(({ policy, kept, jobs, gone, now }) => {
      const active = [...jobs.filter(({ listed }) => listed).map(({ time }) => reference(job(time))), ...(gone ? [reference(job('09:00:00'))] : [])];
      const spec = { concurrencyPolicy: policy, successfulJobsHistoryLimit: kept };
      return { cronJob: cronJob(spec, active.length === 0 ? {} : { active }), jobs: jobs.map(({ time, finish }) => job(time, finish)), now };
    });

  /** The snapshot after these actions. */
  function after(world: World, actions: readonly CronJobAction[]): World {
    return actions.reduce<World>((now, action) => {
      switch (action.do) {
        case 'createJob':
          return { ...now, jobs: [...(now.jobs ?? []), asStored(action.job)] };
        case 'deleteJob':
          return { ...now, jobs: (now.jobs ?? []).filter((each) => each.metadata.uid !== action.job.metadata.uid) };
        case 'updateStatus':
          return { ...now, cronJob: action.object };
        case 'recordEvent':
          return action.rememberAs === undefined ? now : { ...now, recorded: new Map([...(now.recorded ?? []), [action.rememberAs, action.event.message]]) };
        default:
          return now;
      }
    }, world);
  }

  const asStored = (draft: JobDraft): Stored<Job> =>
    ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      ...draft,
      metadata: { ...draft.metadata, uid: `uid of ${draft.metadata?.name ?? ''}`, resourceVersion: '7' },
      status: {},
    }) as Stored<Job>;

  function settled(world: World, now: string): World {
    let state = world;
    for (let i = 0; i < 10; i++) {
      const { actions } = decideCronJob(seen(state), at(now));
      if (actions.length === 0) return state;
      state = after(state, actions);
    }
    return expect.fail('it does not settle');
  }

  const portrait = ({ cronJob: { status }, jobs = [] }: World) => ({ status, jobs: jobs.map(({ metadata }) => metadata.name).sort() });

  test('it settles, and equal snapshots give equal decisions', () => {
    fc.assert(
      fc.property(worlds, ({ now, ...world }) => {
        const settledWorld = settled(world, now);
        expect(decideCronJob(seen(settledWorld), at(now)).actions).toEqual([]);
        expect(decideCronJob(seen({ ...world, jobs: world.jobs.toReversed() }), at(now))).toEqual(decideCronJob(seen(world), at(now)));
      }),
    );
  });

  test('after a crash anywhere it comes to the same end', () => {
    fc.assert(
      fc.property(worlds, fc.nat(12), ({ now, ...world }, cut) => {
        const { actions } = decideCronJob(seen(world), at(now));
        expect(portrait(settled(after(world, actions.slice(0, cut)), now))).toEqual(portrait(settled(world, now)));
      }),
    );
  });
});
