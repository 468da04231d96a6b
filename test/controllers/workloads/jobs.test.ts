/** The Job controllers, in simulated time. */
import { expect, test } from 'vitest';
import { resourceQuotaKind } from '../../../src/api/kinds/core/resource-quota.ts';
import { jobKind } from '../../../src/api/kinds/batch/job.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { conditions, inCluster, inDefault, ok, trackers } from './workload-cluster.ts';

test(
  'a job runs one pod to its end',
  inCluster(async (scene) => {
    await scene.job();
    const [pod] = await scene.pods();
    expect(pod?.metadata).toMatchObject({
      generateName: 'backup-',
      finalizers: ['batch.kubernetes.io/job-tracking'],
      labels: { 'batch.kubernetes.io/job-name': 'backup', 'job-name': 'backup' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'backup', controller: true, blockOwnerDeletion: true }],
    });
    expect((await scene.get()).status).toEqual({ active: 1, ready: 0, terminating: 0, startTime: expect.any(String), uncountedTerminatedPods: {} });
    await scene.set(pod ?? expect.fail(), { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }] });
    expect((await scene.get()).status).toMatchObject({ active: 1, ready: 1 });
    await scene.succeed(pod ?? expect.fail());
    const job = await scene.get();
    expect(job.status).toEqual({
      conditions: expect.any(Array),
      succeeded: 1,
      ready: 0,
      terminating: 0,
      startTime: expect.any(String),
      completionTime: expect.any(String),
      uncountedTerminatedPods: {},
    });
    expect(conditions(job)).toEqual([
      'SuccessCriteriaMet True CompletionsReached: Reached expected number of succeeded pods',
      'Complete True CompletionsReached: Reached expected number of succeeded pods',
    ]);
    expect(trackers(await scene.pods())).toBe(0);
    expect(await scene.events()).toEqual([`SuccessfulCreate: Created pod: ${pod?.metadata.name}`, 'Completed: Job completed']);
  }),
);

test(
  'failed pods are replaced with back-off, up to backoffLimit',
  inCluster(async (scene) => {
    await scene.job({ backoffLimit: 2 });
    for (const waitMs of [10_000, 20_000]) {
      await scene.fail(await scene.onePod());
      await scene.wait(waitMs - 2_000);
      expect(await scene.activePods()).toEqual([]);
      await scene.wait(2_500);
      expect(await scene.activePods()).toHaveLength(1);
    }
    await scene.fail(await scene.onePod());
    const job = await scene.get();
    expect(job.status).toMatchObject({ failed: 3, ready: 0, terminating: 0 });
    expect(conditions(job)).toEqual([
      'FailureTarget True BackoffLimitExceeded: Job has reached the specified backoff limit',
      'Failed True BackoffLimitExceeded: Job has reached the specified backoff limit',
    ]);
    expect((await scene.events()).at(-1)).toBe('BackoffLimitExceeded: Job has reached the specified backoff limit');
  }),
);

test(
  'several pods run in parallel, but not more than are still needed',
  inCluster(async (scene) => {
    await scene.job({ parallelism: 3, completions: 4 });
    expect(await scene.activePods()).toHaveLength(3);
    await scene.succeed(await scene.onePod());
    expect(await scene.activePods()).toHaveLength(3);
    await scene.succeed(await scene.onePod());
    expect(await scene.activePods()).toHaveLength(2);
    expect((await scene.get()).status).toMatchObject({ active: 2, succeeded: 2 });
    await scene.change((spec) => ({ ...spec, parallelism: 1 }));
    expect(await scene.activePods()).toHaveLength(1);
    expect((await scene.get()).status).toMatchObject({ active: 1, succeeded: 2, terminating: 0 });
    expect((await scene.get()).status.failed).toBeUndefined();
  }),
);

test(
  'a job without completions is complete when the first pod has succeeded and the others have ended',
  inCluster(async (scene) => {
    await scene.job({ parallelism: 2 });
    await scene.succeed(await scene.onePod());
    expect(await scene.activePods()).toHaveLength(1);
    expect(conditions(await scene.get())).toEqual([]);
    await scene.fail(await scene.onePod());
    expect(conditions(await scene.get()).at(-1)).toContain('Complete True');
    expect((await scene.get()).status).toMatchObject({ succeeded: 1, failed: 1 });
  }),
);

test(
  'an indexed job has a pod for each index',
  inCluster(async (scene) => {
    await scene.job({ completionMode: 'Indexed', parallelism: 3, completions: 3 });
    const pods = [...(await scene.pods())].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
    expect(pods.map(({ metadata, spec }) => [metadata.generateName, spec.hostname])).toEqual([0, 1, 2].map((i) => [`backup-${i}-`, `backup-${i}`]));
    expect(pods[1]?.metadata).toMatchObject({
      labels: { 'batch.kubernetes.io/job-completion-index': '1' },
      annotations: { 'batch.kubernetes.io/job-completion-index': '1' },
    });
    expect(pods[1]?.spec.containers?.[0]?.env).toEqual([
      {
        name: 'JOB_COMPLETION_INDEX',
        valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" } },
      },
    ]);
    for (const pod of pods.slice(1)) await scene.succeed(pod);
    expect((await scene.get()).status).toMatchObject({ succeeded: 2, completedIndexes: '1,2', active: 1 });
    await scene.fail(pods[0] ?? expect.fail());
    await scene.wait(11_000);
    const again = await scene.onePod();
    expect(again.metadata.annotations?.['batch.kubernetes.io/job-completion-index']).toBe('0');
    await scene.succeed(again);
    expect((await scene.get()).status).toMatchObject({ succeeded: 3, failed: 1, completedIndexes: '0-2', completionTime: expect.any(String) });
  }),
);

test(
  'with backoffLimitPerIndex the other indexes go on, and the pods carry the failure counts',
  inCluster(async (scene) => {
    await scene.job({ completionMode: 'Indexed', parallelism: 2, completions: 2, backoffLimitPerIndex: 1 });
    const pods = await scene.pods();
    const [zero, one] = ['0', '1'].map((index) => pods.find(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/job-completion-index'] === index));
    expect(zero?.metadata.annotations).toMatchObject({ 'batch.kubernetes.io/job-index-failure-count': '0' });
    await scene.fail(zero ?? expect.fail());
    expect(trackers(await scene.pods())).toBe(2);
    await scene.wait(11_000);
    const second = (await scene.activePods()).find(({ metadata }) => metadata.name !== one?.metadata.name);
    expect(second?.metadata.annotations).toMatchObject({ 'batch.kubernetes.io/job-index-failure-count': '1' });
    expect(trackers(await scene.pods())).toBe(2);
    await scene.fail(second ?? expect.fail());
    expect((await scene.get()).status).toMatchObject({ failed: 2, failedIndexes: '0', active: 1 });
    await scene.succeed(one ?? expect.fail());
    const job = await scene.get();
    expect(job.status).toMatchObject({ succeeded: 1, failed: 2, completedIndexes: '1', failedIndexes: '0' });
    expect(conditions(job)).toEqual(['FailureTarget True FailedIndexes: Job has failed indexes', 'Failed True FailedIndexes: Job has failed indexes']);
  }),
);

test(
  'successPolicy can make a job succeed early; its other pods do not count as failed',
  inCluster(async (scene) => {
    await scene.job({ completionMode: 'Indexed', parallelism: 3, completions: 3, successPolicy: { rules: [{ succeededIndexes: '1' }] } });
    const one = (await scene.pods()).find(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/job-completion-index'] === '1');
    await scene.succeed(one ?? expect.fail());
    const job = await scene.get();
    expect(conditions(job)).toEqual([
      'SuccessCriteriaMet True SuccessPolicy: Matched rules at index 0',
      'Complete True SuccessPolicy: Matched rules at index 0',
    ]);
    expect(job.status).toMatchObject({ succeeded: 1, completedIndexes: '1', ready: 0, terminating: 0 });
    expect(job.status.failed).toBeUndefined();
    expect(await scene.pods()).toHaveLength(1);
  }),
);

test(
  'podFailurePolicy can make a job fail at once, or ignore a failure',
  inCluster(async (scene) => {
    const rules = [
      { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
      { action: 'Ignore', onExitCodes: { operator: 'In', values: [7] } },
    ];
    await scene.job({ backoffLimit: 0, podFailurePolicy: { rules } });
    const pod = await scene.onePod();
    await scene.fail(pod, 7);
    expect((await scene.get()).status.failed).toBeUndefined();
    await scene.wait(11_000);
    const second = await scene.onePod();
    await scene.fail(second, 42);
    const message = `Container c for pod default/${second.metadata.name} failed with exit code 42 matching FailJob rule at index 0`;
    expect(conditions(await scene.get())).toEqual([`FailureTarget True PodFailurePolicy: ${message}`, `Failed True PodFailurePolicy: ${message}`]);
  }),
);

test(
  'activeDeadlineSeconds ends running pods',
  inCluster(async (scene) => {
    await scene.job({ activeDeadlineSeconds: 30, parallelism: 2, completions: 2 });
    await scene.wait(29_000);
    expect(conditions(await scene.get())).toEqual([]);
    await scene.wait(2_000);
    const job = await scene.get();
    expect(conditions(job)).toEqual([
      'FailureTarget True DeadlineExceeded: Job was active longer than specified deadline',
      'Failed True DeadlineExceeded: Job was active longer than specified deadline',
    ]);
    expect(job.status).toMatchObject({ failed: 2, terminating: 0 });
    expect(await scene.pods()).toEqual([]);
  }),
);

test(
  'a job waits for terminating pods before it is finished',
  inCluster(async (scene) => {
    await scene.job({ activeDeadlineSeconds: 30, template: { spec: { nodeName: 'n1' } } });
    await scene.wait(31_000);
    expect(conditions(await scene.get())).toEqual(['FailureTarget True DeadlineExceeded: Job was active longer than specified deadline']);
    expect((await scene.get()).status).toMatchObject({ terminating: 1, failed: 1 });
    const [pod] = await scene.pods();
    expect(trackers([pod ?? expect.fail()])).toBe(0);
    ok(await scene.client.delete(podKind, inDefault(pod?.metadata.name ?? ''), { gracePeriodSeconds: 0 }));
    await scene.wait();
    expect(conditions(await scene.get()).at(-1)).toContain('Failed True DeadlineExceeded');
    expect((await scene.get()).status.terminating).toBe(0);
  }),
);

test(
  'a job can be suspended and resumed; the time in between does not count',
  inCluster(async (scene) => {
    await scene.job({ suspend: true, activeDeadlineSeconds: 60 });
    expect(await scene.pods()).toEqual([]);
    expect(conditions(await scene.get())).toEqual(['Suspended True JobSuspended: Job suspended']);
    await scene.wait(100_000);
    await scene.change((spec) => ({ ...spec, suspend: false }));
    expect(await scene.pods()).toHaveLength(1);
    expect(conditions(await scene.get())).toEqual(['Suspended False JobResumed: Job resumed']);
    const started = (await scene.get()).status.startTime;
    await scene.wait(30_000);
    await scene.change((spec) => ({ ...spec, suspend: true }));
    expect(await scene.pods()).toEqual([]);
    expect((await scene.get()).status).toEqual({ conditions: expect.any(Array), ready: 0, terminating: 0, uncountedTerminatedPods: {} });
    await scene.wait(30_000);
    await scene.change((spec) => ({ ...spec, suspend: false }));
    expect((await scene.get()).status.startTime).not.toBe(started);
    expect(conditions(await scene.get())).toEqual(['Suspended False JobResumed: Job resumed']);
    expect((await scene.events()).filter((event) => !event.includes('pod'))).toEqual(['Suspended: Job suspended', 'Resumed: Job resumed']);
  }),
);

test(
  'a deleted pod counts as failed and is replaced after a while; with policy Failed only once it has ended',
  inCluster(async (scene) => {
    await scene.job({});
    ok(await scene.client.delete(podKind, inDefault((await scene.onePod()).metadata.name ?? '')));
    await scene.wait(5_000);
    expect(await scene.pods()).toEqual([]);
    expect((await scene.get()).status).toMatchObject({ failed: 1 });
    await scene.wait(7_000);
    expect(await scene.activePods()).toHaveLength(1);

    await scene.job({ podReplacementPolicy: 'Failed', template: { spec: { nodeName: 'n1' } } }, 'patient');
    const patient = (await scene.activePods()).find(({ metadata }) => metadata.name?.startsWith('patient'));
    ok(await scene.client.delete(podKind, inDefault(patient?.metadata.name ?? '')));
    await scene.wait(30_000);
    expect((await scene.get('patient')).status).toMatchObject({ terminating: 1 });
    expect((await scene.pods()).filter(({ metadata }) => metadata.name?.startsWith('patient'))).toHaveLength(1);
    await scene.fail(patient ?? expect.fail());
    await scene.wait(15_000);
    expect((await scene.get('patient')).status).toMatchObject({ terminating: 0, failed: 1, active: 1 });
  }),
);

test(
  'a finished job is deleted after its TTL, with its pods',
  inCluster(async (scene) => {
    await scene.job({ ttlSecondsAfterFinished: 60 });
    await scene.succeed(await scene.onePod());
    await scene.wait(58_000);
    expect((await scene.get()).metadata.deletionTimestamp).toBeUndefined();
    await scene.wait(3_000);
    const { metadata } = await scene.get();
    expect(metadata).toMatchObject({ deletionTimestamp: expect.any(String), finalizers: ['foregroundDeletion'] });
  }),
);

test(
  'pods of a deleted job lose their finalizer',
  inCluster(async (scene) => {
    await scene.job({ parallelism: 2, completions: 2 });
    ok(await scene.client.delete(jobKind, inDefault('backup'), { propagation: 'Background' }));
    await scene.wait();
    const pods = await scene.pods();
    expect(pods).toHaveLength(2);
    expect(trackers(pods)).toBe(0);
  }),
);

test(
  'refused pods do not keep ended ones from being counted',
  inCluster(async (scene) => {
    await scene.job({ parallelism: 2, completions: 5 });
    ok(await scene.client.create(resourceQuotaKind, { metadata: inDefault('q'), spec: { hard: { pods: '0' } } }));
    for (const pod of await scene.activePods()) await scene.succeed(pod);
    await scene.wait(5_000);
    expect((await scene.get()).status).toMatchObject({ succeeded: 2 });
    const refused = (await scene.events()).filter((event) => event.startsWith('FailedCreate: Error creating: pods "backup-'));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(6);
  }),
);

test(
  'a job with another managedBy is left alone',
  inCluster(async (scene) => {
    await scene.job({ managedBy: 'example.com/other' });
    await scene.wait(1_000);
    expect(await scene.pods()).toEqual([]);
    expect((await scene.get()).status).toEqual({});
  }),
);
