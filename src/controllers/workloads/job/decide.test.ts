import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Job, JobSpec, JobStatus, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { JobAction, PodDraft } from './actions.ts';
import type { Backoff } from './backoff.ts';
import { decideJob } from './decide.ts';
import { TRACKING_FINALIZER } from './tracked-pod.ts';

const now = Date.parse('2026-11-16T12:00:00Z');
const at = (seconds: number): string => new Date(now + seconds * 1000).toISOString().replace('.000', '');

const job = (spec: Partial<JobSpec> = {}, status: JobStatus = {}, metadata: object = {}): Stored<Job> => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'backup', namespace: 'team', uid: 'job', resourceVersion: '1', ...metadata },
  spec: {
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    selector: { matchLabels: { job: 'backup' } },
    template: { metadata: { labels: { job: 'backup' } }, spec: { containers: [{ name: 'c', resources: {} }], restartPolicy: 'Never' } },
    ...spec,
  },
  status,
});

interface PodSpec {
  readonly index?: number;
  readonly counted?: boolean;
  readonly deleted?: boolean;
  readonly failures?: number;
  readonly node?: string;
  readonly endedAt?: number;
}

/** Named after its phase and number. */
function pod(name: string, phase: string, { index, counted = false, deleted = false, failures, node, endedAt = -1 }: PodSpec = {}): Stored<Pod> {
  const annotations = {
    ...(index === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': String(index) }),
    ...(failures === undefined ? {} : { 'batch.kubernetes.io/job-index-failure-count': String(failures) }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'team',
      uid: name,
      resourceVersion: '1',
      creationTimestamp: at(endedAt),
      labels: { job: 'backup' },
      annotations,
      ...(counted ? {} : { finalizers: [TRACKING_FINALIZER] }),
      ...(deleted ? { deletionTimestamp: at(endedAt) } : {}),
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'backup', uid: 'job', controller: true, blockOwnerDeletion: true }],
    },
    spec: { containers: [], ...(node === undefined ? {} : { nodeName: node }) },
    status: { phase },
  };
}

const running = { startTime: at(-60), ready: 0, terminating: 0, uncountedTerminatedPods: {} };

/** The actions as text. */
function done(of: Stored<Job>, pods: readonly Stored<Pod>[] = [], backoff?: Backoff): string[] {
  return decideJob({ job: of, candidates: pods, backoff }, now).actions.map(inWords);
}

function inWords(action: JobAction): string {
  switch (action.do) {
    case 'createPods':
      return `create ${action.pods.map(({ metadata }) => metadata?.generateName ?? '').join(' ')}`;
    case 'deletePods':
    case 'dropPods':
    case 'releasePods':
      return `${action.do.slice(0, -4)} ${action.pods.map(({ metadata }) => metadata.name).join(' ')}`;
    case 'updateStatus':
      return `status ${shown(action.object.status)}`.trim();
    case 'rememberFailures':
      return `${action.backoff.failures} failures`;
    case 'recordEvent':
      return `${action.event.reason}: ${action.event.message}`;
    default:
      return action.do;
  }
}

/** 'active 1, succeeded 2, uncounted a b: FailureTarget' */
function shown({ active, succeeded, failed, terminating, uncountedTerminatedPods, conditions = [], completedIndexes }: JobStatus): string {
  const uncounted = [...(uncountedTerminatedPods?.succeeded ?? []), ...(uncountedTerminatedPods?.failed ?? [])].join(' ');
  const counts = Object.entries({ active, succeeded, failed, terminating, uncounted, completedIndexes });
  const told = counts.filter(([, value]) => value !== undefined && value !== 0 && value !== '').map(([name, value]) => `${name} ${value ?? ''}`);
  return `${told.join(', ')}${conditions.map(({ type, status }) => ` ${status === 'True' ? '' : 'not '}${type}`).join('')}`.trim();
}

describe('a job', () => {
  test('sets its start time, then creates its pod', () => {
    expect(done(job())).toEqual(['status', 'create backup-']);
    expect(done(job({}, running))).toEqual(['create backup-']);
    expect(done(job({}, { ...running, active: 1 }), [pod('a', 'Pending')])).toEqual([]);
  });

  test('counts a success in three steps, and completes', () => {
    expect(done(job({}, { ...running, active: 1 }), [pod('a', 'Succeeded')])).toEqual([
      'status uncounted a SuccessCriteriaMet',
      '0 failures',
      'release a',
      'status succeeded 1 SuccessCriteriaMet Complete',
      'Completed: Job completed',
    ]);
  });

  test('goes on after a crash: listed, and still tracked', () => {
    const cut = job({ completions: 2 }, { ...running, uncountedTerminatedPods: { succeeded: ['a'] } });
    expect(done(cut, [pod('a', 'Succeeded')])).toEqual(['release a', 'status succeeded 1', 'create backup-']);
  });

  test('goes on after a crash: listed, and released', () => {
    const cut = job({ completions: 2 }, { ...running, uncountedTerminatedPods: { succeeded: ['a'] } });
    expect(done(cut, [pod('a', 'Succeeded', { counted: true })])).toEqual(['status succeeded 1', 'create backup-']);
    expect(done(cut)).toEqual(['status succeeded 1', 'create backup-']);
  });

  test('waits before a retry: ten seconds, then twice as long', () => {
    const failed = (endedAt: number) => decideJob({ job: job({}, running), candidates: [pod('a', 'Failed', { endedAt })], backoff: undefined }, now);
    expect(failed(-5).actions.map(inWords)).toEqual(['status uncounted a', '1 failures', 'release a', 'status failed 1']);
    expect(failed(-5).again).toBe(now + 5_000);
    expect(failed(-10).actions.map(inWords).at(-1)).toBe('create backup-');
    const again = (failures: number) => decideJob({ job: job({}, running), candidates: [], backoff: { failures, lastFailureAt: now } }, now).again;
    expect([1, 2, 3, 7, 30].map(again)).toEqual([10, 20, 40, 600, 600].map((seconds) => now + seconds * 1000));
  });

  test('rebuilds the back-off of an earlier process from existing pods', () => {
    const candidates = [pod('a', 'Failed', { counted: true, endedAt: -9 }), pod('b', 'Failed', { counted: true, endedAt: -2 })];
    expect(decideJob({ job: job({}, { ...running, failed: 2 }), candidates, backoff: undefined }, now).again).toBe(now + 18_000);
  });

  test('a success resets the back-off', () => {
    const pods = [pod('a', 'Failed', { endedAt: -9 }), pod('b', 'Succeeded', { endedAt: -5 }), pod('c', 'Failed', { endedAt: -1 })];
    expect(done(job({ completions: 5 }, running), pods, { failures: 4, lastFailureAt: now })).toContain('1 failures');
  });

  test('that exceeds backoffLimit deletes running pods, and every pod counts as failed', () => {
    const pods = [pod('a', 'Failed'), pod('b', 'Running', { node: 'n' })];
    expect(done(job({ parallelism: 2, completions: 2, backoffLimit: 0 }, { ...running, active: 2 }), pods)).toEqual([
      'status terminating 1, uncounted a b FailureTarget',
      '1 failures',
      'delete b',
      'release a b',
      'status failed 2, terminating 1 FailureTarget',
    ]);
  });

  test('container restarts count with OnFailure', () => {
    const restarting = (restartCount: number): Stored<Pod> => {
      const container = { name: 'c', ready: false, restartCount, image: 'i', imageID: '', state: {}, lastState: {} };
      return { ...pod('a', 'Running'), status: { phase: 'Running', containerStatuses: [container] } };
    };
    const { template } = job().spec;
    const onFailure = job({ backoffLimit: 3, template: { ...template, spec: { ...template.spec, restartPolicy: 'OnFailure' } } }, { ...running, active: 1 });
    expect(done(onFailure, [restarting(2)])).toEqual([]);
    expect(done(onFailure, [restarting(3)])).toContain('delete a');
  });

  test('deletes surplus pods in deletion order, without counting them', () => {
    const pods = [pod('a', 'Running', { node: 'n' }), pod('b', 'Pending'), pod('c', 'Pending', { node: 'n' })];
    expect(done(job({ parallelism: 1, completions: 9 }, { ...running, active: 3 }), pods)).toEqual(['drop b c']);
  });

  test('indexed: pods without index, with an invalid one or with a shared one are surplus', () => {
    const pods = [pod('a', 'Running', { index: 0, node: 'n' }), pod('b', 'Pending', { index: 0 }), pod('c', 'Running', { index: 7 }), pod('d', 'Running')];
    expect(done(job({ completionMode: 'Indexed', parallelism: 3, completions: 3 }, { ...running, active: 4 }), pods)[0]).toBe('drop d b c');
  });

  test('indexed: the first free indexes get pods', () => {
    const of = job({ completionMode: 'Indexed', parallelism: 3, completions: 6 }, { ...running, completedIndexes: '0,2', succeeded: 2, active: 1 });
    expect(done(of, [pod('a', 'Running', { index: 1 })])).toEqual(['create backup-3- backup-4-']);
  });

  test('releases all its pods when it is deleted', () => {
    const deleted = job({}, { ...running, active: 1 }, { deletionTimestamp: at(0) });
    expect(done(deleted, [pod('a', 'Running')])).toEqual(['release a']);
  });

  test('adopts and releases pods before anything else', () => {
    const orphan = { ...pod('a', 'Running'), metadata: { ...pod('a', 'Running').metadata, ownerReferences: [] } };
    const other = { ...pod('b', 'Running'), metadata: { ...pod('b', 'Running').metadata, labels: {} } };
    expect(done(job({}, running), [orphan, other])).toEqual(['release', 'confirmOwner', 'adopt']);
  });

  test.each([
    ['has ended', job({}, { conditions: [{ type: 'Complete', status: 'True', lastProbeTime: null, lastTransitionTime: null }] })],
    ['is managed by another controller', job({ managedBy: 'example.com/other' })],
  ])('that %s is left alone', (_, of) => {
    expect(done(of, [pod('a', 'Failed')])).toEqual([]);
  });
});

describe('for any snapshot', () => {
  const sweep = (pods: readonly Stored<Pod>[]) =>
    pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined || (metadata.finalizers ?? []).length > 0);
  const phase = fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed');
  const worlds = fc
    .record({
      mode: fc.constantFrom('NonIndexed', 'Indexed'),
      parallelism: fc.integer({ min: 0, max: 3 }),
      completions: fc.integer({ min: 0, max: 4 }),
      backoffLimit: fc.integer({ min: 0, max: 3 }),
      perIndex: fc.option(fc.integer({ min: 0, max: 1 }), { nil: undefined }),
      suspend: fc.boolean(),
      pods: fc.array(fc.record({ phase, index: fc.nat(4), counted: fc.boolean(), deleted: fc.boolean(), listed: fc.boolean() }), { maxLength: 5 }),
    })
    .map(({ mode, parallelism, completions, backoffLimit, perIndex, suspend, pods }) => {
      const indexed = mode === 'Indexed';
      const perIndexLimit = indexed && perIndex !== undefined ? { backoffLimitPerIndex: perIndex } : {};
      const listed = pods
        .map((each, i) => ({ ...each, uid: `p${i}` }))
        .filter((each) => each.listed && (each.phase === 'Failed' || (!indexed && each.phase === 'Succeeded')));
      const status: JobStatus = {
        ...running,
        uncountedTerminatedPods: {
          succeeded: listed.filter((each) => each.phase === 'Succeeded').map(({ uid }) => uid),
          failed: listed.filter((each) => each.phase === 'Failed').map(({ uid }) => uid),
        },
      };
      return {
        job: job({ completionMode: mode, parallelism, completions, backoffLimit, suspend, ...perIndexLimit }, status),
        // A deleted pod without finalizer would not exist.
        pods: sweep(pods.map(({ index, ...each }, i) => pod(`p${i}`, each.phase, { ...each, failures: 0, ...(indexed ? { index } : {}) }))),
      };
    });

  interface World {
    readonly job: Stored<Job>;
    readonly pods: readonly Stored<Pod>[];
  }

  let made = 0;
  const asStored = (draft: PodDraft): Stored<Pod> => {
    const name = `new${made++}`;
    return {
      ...pod(name, 'Pending'),
      ...draft,
      metadata: { ...pod(name, 'Pending').metadata, ...draft.metadata },
      status: { phase: 'Pending' },
    } as Stored<Pod>;
  };
  const without = (pods: readonly Stored<Pod>[], gone: readonly Stored<Pod>[]) =>
    pods.filter(({ metadata }) => !gone.some((each) => each.metadata.uid === metadata.uid));

  /** The objects after these actions; pods have no node, so deleted ones vanish with their last finalizer. */
  function after(world: World, actions: readonly JobAction[]): World {
    return actions.reduce<World>((state, action) => {
      switch (action.do) {
        case 'createPods':
          return { ...state, pods: [...state.pods, ...action.pods.map(asStored)] };
        case 'dropPods':
          return { ...state, pods: without(state.pods, action.pods) };
        case 'deletePods':
          return {
            ...state,
            pods: sweep(state.pods.map((each) => (isIn(each, action.pods) ? { ...each, metadata: { ...each.metadata, deletionTimestamp: at(0) } } : each))),
          };
        case 'releasePods':
          return {
            ...state,
            pods: sweep(state.pods.map((each) => (isIn(each, action.pods) ? { ...each, metadata: { ...each.metadata, finalizers: [] } } : each))),
          };
        case 'updateStatus':
          return { ...state, job: { ...state.job, status: action.object.status } };
        default:
          return state;
      }
    }, world);
  }
  const isIn = ({ metadata }: Stored<Pod>, pods: readonly Stored<Pod>[]) => pods.some((each) => each.metadata.uid === metadata.uid);

  /** Later, after every back-off. */
  const later = now + 3_600_000;
  const decide = (world: World) => decideJob({ job: world.job, candidates: world.pods, backoff: undefined }, later);

  function settled(world: World): World {
    let state = world;
    for (let i = 0; i < 20; i++) {
      const { actions } = decide(state);
      if (actions.length === 0) return state;
      state = after(state, actions);
    }
    return expect.fail('it does not settle');
  }

  const portrait = ({ job: { status }, pods }: World) => ({
    counts: [status.active ?? 0, status.succeeded ?? 0, status.failed ?? 0, status.completedIndexes ?? '', status.failedIndexes ?? ''],
    conditions: (status.conditions ?? []).map(({ type }) => type),
    uncounted: status.uncountedTerminatedPods,
    pods: pods.length,
  });

  test('it settles, and equal snapshots give equal decisions', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        expect(decide(settled(world)).actions).toEqual([]);
        expect(decide({ ...world, pods: world.pods.toReversed() })).toEqual(decide(world));
      }),
      { numRuns: 300 },
    );
  });

  test('after a crash anywhere it comes to the same end', () => {
    fc.assert(
      fc.property(worlds, fc.nat(6), (world, cut) => {
        const { actions } = decide(world);
        expect(portrait(settled(after(world, actions.slice(0, cut))))).toEqual(portrait(settled(world)));
      }),
      { numRuns: 300 },
    );
  });
});
