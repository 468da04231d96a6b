import { describe, expect, test } from 'vitest';
import type { Job, JobSpec, JobStatus } from '../../generated/types.ts';
import { created, refusal, row, statusRefusal, updateRefusal } from '../try-kind.ts';
import { jobKind } from './job.ts';
import { podSpec } from '../workload-samples.ts';

const template = { spec: { ...podSpec, restartPolicy: 'Never' } };
const raw = (spec: object = {}, metadata: object = {}) => ({ metadata: { name: 'once', ...metadata }, spec: { template, ...spec } });
const job = (spec: object = {}, metadata: object = {}): Job => created(jobKind, raw(spec, metadata));
const said = (spec: object): string[] => refusal(jobKind, raw(spec));
const generated = { 'job-name': 'once', 'batch.kubernetes.io/job-name': 'once', 'controller-uid': 'a-uid', 'batch.kubernetes.io/controller-uid': 'a-uid' };

describe('a new job', () => {
  test('gets its defaults', () => {
    const { template: _, selector: __, ...spec } = job().spec;
    expect(spec).toEqual({
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      manualSelector: false,
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: 'TerminatingOrFailed',
    });
    expect(job().status).toEqual({});
  });

  test('whose defaults depend on each other', () => {
    expect(job({ parallelism: 3 }).spec.completions).toBeUndefined();
    expect(job({ completions: 3 }).spec.parallelism).toBe(1);
    expect(job({ completionMode: 'Indexed', completions: 2, backoffLimitPerIndex: 1 }).spec.backoffLimit).toBe(2147483647);
    const podFailurePolicy = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] };
    expect(job({ podFailurePolicy }).spec).toMatchObject({
      podReplacementPolicy: 'Failed',
      podFailurePolicy: { rules: [{ onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] },
    });
  });

  test('finds its pods by its uid', () => {
    const { metadata, spec } = job();
    expect(spec.template.metadata.labels).toEqual(generated);
    expect(spec.selector).toEqual({ matchLabels: { 'batch.kubernetes.io/controller-uid': 'a-uid' } });
    expect(metadata.labels).toEqual(generated);
  });

  test('has the labels of its template if it has none of its own, those that were generated included', () => {
    const labelled = { ...template, metadata: { labels: { app: 'x' } } };
    expect(job({ template: labelled }).metadata.labels).toEqual({ app: 'x', ...generated });
    expect(job({ template: labelled }, { labels: { own: 'y' } }).metadata.labels).toEqual({ own: 'y' });
  });

  test('may select its pods itself', () => {
    const own = { manualSelector: true, selector: { matchLabels: { app: 'x' } }, template: { ...template, metadata: { labels: { app: 'x' } } } };
    expect(said(own)).toEqual([]);
    expect(job(own).spec.template.metadata.labels).toEqual({ app: 'x' });
    expect(said({ manualSelector: true })).toEqual([
      'FieldValueRequired spec.selector: Required value',
      'FieldValueInvalid spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
    ]);
  });

  test('may not take the labels of another', () => {
    const lines = said({ template: { ...template, metadata: { labels: { 'controller-uid': 'other' } } } });
    expect(lines).toEqual([
      expect.stringMatching(/^FieldValueInvalid spec\.template\.metadata\.labels\[controller-uid\]: Invalid value: \{.*\}: must be 'a-uid'$/),
    ]);
  });
});

describe('what is refused', () => {
  test('pods that never end', () => {
    const pod = (restartPolicy: string): object => ({ template: { spec: { ...podSpec, restartPolicy } } });
    const field = 'spec.template.spec.restartPolicy';
    expect(said(pod('Always'))).toEqual([`FieldValueRequired ${field}: Required value: valid values: "OnFailure", "Never"`]);
    expect(said({ ...pod('OnFailure'), podFailurePolicy: { rules: [] } })).toEqual([
      `FieldValueInvalid ${field}: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified`,
    ]);
  });

  test('numbers below zero, and modes that are none', () => {
    expect(said({ parallelism: -1, backoffLimit: -1, completionMode: 'Random', managedBy: 'me', podReplacementPolicy: 'Now' })).toEqual([
      'FieldValueInvalid spec.parallelism: Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")',
      'FieldValueNotSupported spec.completionMode: Unsupported value: "Random": supported values: "NonIndexed", "Indexed"',
      'FieldValueNotSupported spec.podReplacementPolicy: Unsupported value: "Now": supported values: "Failed", "TerminatingOrFailed"',
    ]);
  });

  test('indexes without an indexed job', () => {
    expect(said({ backoffLimitPerIndex: 1, maxFailedIndexes: 1, successPolicy: { rules: [{ succeededCount: 1 }] } })).toEqual([
      'FieldValueInvalid spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
      'FieldValueInvalid spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
      'FieldValueInvalid spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: requires indexed completion mode',
    ]);
  });

  test('indexed jobs that are not complete, or too large', () => {
    expect(said({ completionMode: 'Indexed', parallelism: 100_001 })).toEqual([
      'FieldValueRequired spec.completions: Required value: when completion mode is Indexed',
      'FieldValueInvalid spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
    ]);
    expect(said({ completionMode: 'Indexed', completions: 5, maxFailedIndexes: 6 })).toEqual([
      'FieldValueRequired spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
      'FieldValueInvalid spec.maxFailedIndexes: Invalid value: 6: must be less than or equal to completions',
    ]);
    const name = 'x'.repeat(62);
    expect(refusal(jobKind, raw({ completionMode: 'Indexed', completions: 10 }, { name }))).toEqual([
      `FieldValueInvalid metadata.name: Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-9`,
    ]);
  });

  test('policies on failure', () => {
    const rules = [
      { action: '' },
      { action: 'FailIndex', onExitCodes: { operator: 'In', values: [0, 3, 2, 2], containerName: 'other' } },
      { action: 'Explode', onExitCodes: { operator: 'Is', values: [] }, onPodConditions: [{ type: 'A B', status: 'Perhaps' }] },
    ];
    expect(said({ podFailurePolicy: { rules } }).map((line) => line.replace('spec.podFailurePolicy.', '').replace(/: name part.*/, ''))).toEqual([
      'FieldValueRequired rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
      'FieldValueInvalid rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
      'FieldValueInvalid rules[1].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
      'FieldValueInvalid rules[1].onExitCodes.containerName: Invalid value: "other": must be one of the container or initContainer names in the pod template',
      'FieldValueInvalid rules[1].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator',
      'FieldValueDuplicate rules[1].onExitCodes.values[3]: Duplicate value: 2',
      'FieldValueInvalid rules[1].onExitCodes.values: Invalid value: [0,3,2,2]: must be ordered',
      'FieldValueNotSupported rules[2].action: Unsupported value: "Explode": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
      'FieldValueNotSupported rules[2].onExitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"',
      'FieldValueInvalid rules[2].onExitCodes.values: Invalid value: null: at least one value is required',
      'FieldValueInvalid rules[2].onPodConditions[0].type: Invalid value: "A B"',
      'FieldValueNotSupported rules[2].onPodConditions[0].status: Unsupported value: "Perhaps": supported values: "False", "True", "Unknown"',
      'FieldValueInvalid rules[2]: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported',
    ]);
  });

  test('policies on success', () => {
    const policy = (...rules: object[]): string[] =>
      said({ completionMode: 'Indexed', completions: 5, successPolicy: { rules } }).map((line) => line.replace('spec.successPolicy.', ''));
    expect(policy()).toEqual(['FieldValueRequired rules: Required value: at least one rules must be specified when the successPolicy is specified']);
    expect(policy({ succeededIndexes: '0,2-3', succeededCount: 3 })).toEqual([]);
    expect(policy({}, { succeededIndexes: '3,1' }, { succeededIndexes: '0-5' }, { succeededIndexes: '1-2', succeededCount: 4 }, { succeededCount: 6 })).toEqual(
      [
        'FieldValueRequired rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified',
        'FieldValueInvalid rules[1].succeededIndexes: Invalid value: "3,1": error parsing succeededIndexes: non-increasing order, previous: 3, current: 1',
        'FieldValueInvalid rules[2].succeededIndexes: Invalid value: "0-5": error parsing succeededIndexes: too large index: "5"',
        'FieldValueInvalid rules[3].succeededCount: Invalid value: 4: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
        'FieldValueInvalid rules[4].succeededCount: Invalid value: 6: must be less than or equal to 5 (the number of specified completions)',
      ],
    );
  });
});

describe('changes', () => {
  const change = (old: Job, edit: (spec: JobSpec) => unknown): string[] => updateRefusal(jobKind, old, ({ spec }) => void edit(spec));
  const select = (spec: JobSpec): unknown => Object.assign(spec.template.spec, { nodeSelector: { zone: 'a' } });
  const short = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/\{.*\}/, '{…}'));

  test('of how many run at a time, and of deadlines', () => {
    expect(
      change(job(), (spec) => Object.assign(spec, { parallelism: 5, activeDeadlineSeconds: 9, suspend: true, backoffLimit: 1, ttlSecondsAfterFinished: 3 })),
    ).toEqual([]);
  });

  test('of what it does, never', () => {
    expect(change(job(), (spec) => Object.assign(spec, { completions: 2 }))).toEqual([
      'FieldValueInvalid spec.completions: Invalid value: 2: field is immutable',
    ]);
    expect(
      change(job({ completions: 1, completionMode: 'Indexed' }), (spec) => Object.assign(spec, { managedBy: 'acme.io/x', backoffLimitPerIndex: 3 })),
    ).toEqual([
      'FieldValueInvalid spec.backoffLimitPerIndex: Invalid value: 3: field is immutable',
      'FieldValueInvalid spec.managedBy: Invalid value: "acme.io/x": field is immutable',
    ]);
    expect(short(change(job(), select))).toEqual(['FieldValueInvalid spec.template: Invalid value: {…}: field is immutable']);
  });

  test('of an indexed job’s size, with its parallelism', () => {
    const indexed = job({ completionMode: 'Indexed', completions: 3, parallelism: 3 });
    expect(change(indexed, (spec) => Object.assign(spec, { completions: 5, parallelism: 5 }))).toEqual([]);
    expect(change(indexed, (spec) => Object.assign(spec, { completions: 5 }))).toEqual([
      'FieldValueInvalid spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism',
    ]);
  });

  test('of where the pods of a suspended job run, while there are none', () => {
    const suspended = job({ suspend: true });
    const giveMore = (spec: JobSpec): unknown => Object.assign(spec.template.spec.containers?.[0] ?? {}, { resources: { requests: { cpu: '2' } } });
    const other = (spec: JobSpec): unknown => Object.assign(spec.template.spec.containers?.[0] ?? {}, { image: 'other' });
    expect(change(suspended, select)).toEqual([]);
    expect(change(suspended, giveMore)).toEqual([]);
    expect(change(suspended, (spec) => Object.assign(spec.template.metadata.labels ?? {}, { queue: 'a' }))).toEqual([]);
    expect(short(change(suspended, other))).toEqual(['FieldValueInvalid spec.template.spec: Invalid value: {…}: field is immutable']);
    const busy: Job = { ...suspended, status: { startTime: '2026-03-01T11:00:00Z', active: 1 } };
    expect(short(change(busy, select))).toEqual(['FieldValueInvalid spec.template: Invalid value: {…}: field is immutable']);
  });
});

describe('a status', () => {
  const start = '2026-03-01T11:00:00Z';
  const end = '2026-03-01T11:30:00Z';
  const conditions = (...types: string[]): object[] => types.map((type) => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: null }));
  const report = (status: object, before: JobStatus = {}, spec: object = {}): string[] =>
    statusRefusal(jobKind, { ...job(spec), status: before }, (copy) => Object.assign(copy, { status })).map((line) => line.replace('status.', ''));

  test('of a job that is done', () => {
    expect(report({ startTime: start, completionTime: end, succeeded: 1, conditions: conditions('SuccessCriteriaMet', 'Complete') })).toEqual([]);
    expect(report({ completionTime: end, active: 1, conditions: conditions('Complete') })).toEqual([
      'FieldValueInvalid conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
      'FieldValueInvalid active: Invalid value: 1: active>0 is invalid for finished job',
      'FieldValueRequired startTime: Required value: startTime is required for finished job',
    ]);
  });

  test('cannot say two things', () => {
    expect(report({ startTime: start, conditions: conditions('Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet') })).toEqual([
      'FieldValueInvalid conditions: Invalid value: cannot set Complete=True and Failed=true conditions',
      'FieldValueInvalid conditions: Invalid value: cannot set Complete=True and FailureTarget=true conditions',
      'FieldValueRequired completionTime: Required value: completionTime is required for Complete jobs',
      'FieldValueInvalid conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions',
      'FieldValueInvalid conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
    ]);
  });

  test('cannot go back', () => {
    const before = { startTime: start, failed: 2, succeeded: 2, conditions: conditions('FailureTarget') } as unknown as JobStatus;
    expect(report({ startTime: end, failed: 1, succeeded: 1 }, before)).toEqual([
      'FieldValueInvalid conditions: Invalid value: cannot disable the terminal FailureTarget=True condition',
      'FieldValueInvalid failed: Invalid value: 1: cannot decrease the failed counter',
      'FieldValueInvalid succeeded: Invalid value: 1: cannot decrease the succeeded counter',
      `FieldValueInvalid startTime: Invalid value: "${end}": field is immutable for unsuspended job once set`,
    ]);
  });

  test('counts pods', () => {
    const uncountedTerminatedPods = { succeeded: ['a', ''], failed: ['a'] };
    expect(report({ active: 1, ready: 2, uncountedTerminatedPods })).toEqual([
      'FieldValueInvalid uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
      'FieldValueDuplicate uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
      'FieldValueInvalid ready: Invalid value: 2: cannot set more ready pods than active',
    ]);
  });

  test('lists indexes', () => {
    const indexed = { completionMode: 'Indexed', completions: 5, backoffLimitPerIndex: 1 };
    expect(report({ completedIndexes: '0-2', failedIndexes: '3' }, {}, indexed)).toEqual([]);
    expect(report({ completedIndexes: '0-2', failedIndexes: '1,x' }, {}, indexed)).toEqual([
      'FieldValueInvalid failedIndexes: Invalid value: "1,x": error parsing failedIndexes: cannot convert string to integer for index: "x"',
      'FieldValueInvalid failedIndexes: Invalid value: "1,x": failedIndexes and completedIndexes overlap at index: 1',
    ]);
    expect(report({ completedIndexes: '0', failedIndexes: '' })).toEqual([
      'FieldValueInvalid completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
      'FieldValueInvalid failedIndexes: Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
    ]);
  });
});

test('its row', () => {
  const shown = (status: object, spec: object = {}): Record<string, unknown> => row(jobKind, { ...job(spec), status });
  const condition = (type: string): object => ({ conditions: [{ type, status: 'True', lastProbeTime: null, lastTransitionTime: null }] });
  expect(shown({})).toMatchObject({ Status: 'Running', Completions: '0/1', Duration: '', Selector: 'batch.kubernetes.io/controller-uid=a-uid' });
  expect(shown({ succeeded: 1, startTime: '2026-03-01T11:00:00Z', completionTime: '2026-03-01T11:00:42Z', ...condition('Complete') })).toMatchObject({
    Status: 'Complete',
    Completions: '1/1',
    Duration: '42s',
  });
  expect(shown({ startTime: '2026-03-01T11:58:30Z' }, { parallelism: 3 })).toMatchObject({ Completions: '0/1 of 3', Duration: '90s' });
  expect(shown(condition('Suspended'))).toMatchObject({ Status: 'Suspended' });
  expect(jobKind.selectableFields['status.successful']?.({ ...job(), status: { succeeded: 2 } })).toBe('2');
});
