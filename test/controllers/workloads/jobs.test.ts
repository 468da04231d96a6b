/** The Job controllers, in simulated time. */
import { expect, test } from 'vitest';
import { resourceQuotaKind } from '../../../src/api/kinds/core/resource-quota.ts';
import { jobKind } from '../../../src/api/kinds/batch/job.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { conditions, inCluster, inDefault, ok, trackers } from './workload-cluster.ts';

test(
  'a job runs one pod to its end',
  inCluster(async (workloads) => {
    await workloads.job();
    const [pod] = await workloads.pods();
    expect(pod?.metadata).toMatchObject({
      generateName: 'backup-',
      finalizers: ['batch.kubernetes.io/job-tracking'],
      labels: { 'batch.kubernetes.io/job-name': 'backup', 'job-name': 'backup' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'backup', controller: true, blockOwnerDeletion: true }],
    });
    expect((await workloads.get()).status).toEqual({ active: 1, ready: 0, terminating: 0, startTime: expect.any(String), uncountedTerminatedPods: {} });
    await workloads.set(pod ?? expect.fail(), {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }],
    });
    expect((await workloads.get()).status).toMatchObject({ active: 1, ready: 1 });
    await workloads.succeed(pod ?? expect.fail());
    const job = await workloads.get();
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
    expect(trackers(await workloads.pods())).toBe(0);
    expect(await workloads.events()).toEqual([`SuccessfulCreate: Created pod: ${pod?.metadata.name}`, 'Completed: Job completed']);
  }),
);

test(
  'failed pods are replaced with back-off, up to backoffLimit',
  inCluster(async (workloads) => {
    await workloads.job({ backoffLimit: 2 });
    for (const waitMs of [10_000, 20_000]) {
      await workloads.fail(await workloads.onePod());
      await workloads.wait(waitMs - 2_000);
      expect(await workloads.activePods()).toEqual([]);
      await workloads.wait(2_500);
      expect(await workloads.activePods()).toHaveLength(1);
    }
    await workloads.fail(await workloads.onePod());
    const job = await workloads.get();
    expect(job.status).toMatchObject({ failed: 3, ready: 0, terminating: 0 });
    expect(conditions(job)).toEqual([
      'FailureTarget True BackoffLimitExceeded: Job has reached the specified backoff limit',
      'Failed True BackoffLimitExceeded: Job has reached the specified backoff limit',
    ]);
    expect((await workloads.events()).at(-1)).toBe('BackoffLimitExceeded: Job has reached the specified backoff limit');
  }),
);

test(
  'several pods run in parallel, but not more than are still needed',
  inCluster(async (workloads) => {
    await workloads.job({ parallelism: 3, completions: 4 });
    expect(await workloads.activePods()).toHaveLength(3);
    await workloads.succeed(await workloads.onePod());
    expect(await workloads.activePods()).toHaveLength(3);
    await workloads.succeed(await workloads.onePod());
    expect(await workloads.activePods()).toHaveLength(2);
    expect((await workloads.get()).status).toMatchObject({ active: 2, succeeded: 2 });
    await workloads.change((spec) => ({ ...spec, parallelism: 1 }));
    expect(await workloads.activePods()).toHaveLength(1);
    expect((await workloads.get()).status).toMatchObject({ active: 1, succeeded: 2, terminating: 0 });
    expect((await workloads.get()).status.failed).toBeUndefined();
  }),
);

test(
  'a job without completions is complete when the first pod has succeeded and the others have ended',
  inCluster(async (workloads) => {
    await workloads.job({ parallelism: 2 });
    await workloads.succeed(await workloads.onePod());
    expect(await workloads.activePods()).toHaveLength(1);
    expect(conditions(await workloads.get())).toEqual([]);
    await workloads.fail(await workloads.onePod());
    expect(conditions(await workloads.get()).at(-1)).toContain('Complete True');
    expect((await workloads.get()).status).toMatchObject({ succeeded: 1, failed: 1 });
  }),
);

test(
  'an indexed job has a pod for each index',
  inCluster(async (workloads) => {
    await workloads.job({ completionMode: 'Indexed', parallelism: 3, completions: 3 });
    const pods = [...(await workloads.pods())].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
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
    for (const pod of pods.slice(1)) await workloads.succeed(pod);
    expect((await workloads.get()).status).toMatchObject({ succeeded: 2, completedIndexes: '1,2', active: 1 });
    await workloads.fail(pods[0] ?? expect.fail());
    await workloads.wait(11_000);
    const again = await workloads.onePod();
    expect(again.metadata.annotations?.['batch.kubernetes.io/job-completion-index']).toBe('0');
    await workloads.succeed(again);
    expect((await workloads.get()).status).toMatchObject({ succeeded: 3, failed: 1, completedIndexes: '0-2', completionTime: expect.any(String) });
  }),
);

test(
  'with backoffLimitPerIndex the other indexes go on, and the pods carry the failure counts',
  inCluster(async (workloads) => {
    await workloads.job({ completionMode: 'Indexed', parallelism: 2, completions: 2, backoffLimitPerIndex: 1 });
    const pods = await workloads.pods();
    const [zero, one] = ['0', '1'].map((index) => pods.find(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/job-completion-index'] === index));
    expect(zero?.metadata.annotations).toMatchObject({ 'batch.kubernetes.io/job-index-failure-count': '0' });
    await workloads.fail(zero ?? expect.fail());
    expect(trackers(await workloads.pods())).toBe(2);
    await workloads.wait(11_000);
    const second = (await workloads.activePods()).find(({ metadata }) => metadata.name !== one?.metadata.name);
    expect(second?.metadata.annotations).toMatchObject({ 'batch.kubernetes.io/job-index-failure-count': '1' });
    expect(trackers(await workloads.pods())).toBe(2);
    await workloads.fail(second ?? expect.fail());
    expect((await workloads.get()).status).toMatchObject({ failed: 2, failedIndexes: '0', active: 1 });
    await workloads.succeed(one ?? expect.fail());
    const job = await workloads.get();
    expect(job.status).toMatchObject({ succeeded: 1, failed: 2, completedIndexes: '1', failedIndexes: '0' });
    expect(conditions(job)).toEqual(['FailureTarget True FailedIndexes: Job has failed indexes', 'Failed True FailedIndexes: Job has failed indexes']);
  }),
);

test(
  'successPolicy can make a job succeed early; its other pods do not count as failed',
  inCluster(async (workloads) => {
    await workloads.job({ completionMode: 'Indexed', parallelism: 3, completions: 3, successPolicy: { rules: [{ succeededIndexes: '1' }] } });
    const one = (await workloads.pods()).find(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/job-completion-index'] === '1');
    await workloads.succeed(one ?? expect.fail());
    const job = await workloads.get();
    expect(conditions(job)).toEqual([
      'SuccessCriteriaMet True SuccessPolicy: Matched rules at index 0',
      'Complete True SuccessPolicy: Matched rules at index 0',
    ]);
    expect(job.status).toMatchObject({ succeeded: 1, completedIndexes: '1', ready: 0, terminating: 0 });
    expect(job.status.failed).toBeUndefined();
    expect(await workloads.pods()).toHaveLength(1);
  }),
);

test(
  'podFailurePolicy can make a job fail at once, or ignore a failure',
  inCluster(async (workloads) => {
    const rules = [
      { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
      { action: 'Ignore', onExitCodes: { operator: 'In', values: [7] } },
    ];
    await workloads.job({ backoffLimit: 0, podFailurePolicy: { rules } });
    const pod = await workloads.onePod();
    await workloads.fail(pod, 7);
    expect((await workloads.get()).status.failed).toBeUndefined();
    await workloads.wait(11_000);
    const second = await workloads.onePod();
    await workloads.fail(second, 42);
    const message = `Container c for pod default/${second.metadata.name} failed with exit code 42 matching FailJob rule at index 0`;
    expect(conditions(await workloads.get())).toEqual([`FailureTarget True PodFailurePolicy: ${message}`, `Failed True PodFailurePolicy: ${message}`]);
  }),
);

test(
  'activeDeadlineSeconds ends running pods',
  inCluster(async (workloads) => {
    await workloads.job({ activeDeadlineSeconds: 30, parallelism: 2, completions: 2 });
    await workloads.wait(29_000);
    expect(conditions(await workloads.get())).toEqual([]);
    await workloads.wait(2_000);
    const job = await workloads.get();
    expect(conditions(job)).toEqual([
      'FailureTarget True DeadlineExceeded: Job was active longer than specified deadline',
      'Failed True DeadlineExceeded: Job was active longer than specified deadline',
    ]);
    expect(job.status).toMatchObject({ failed: 2, terminating: 0 });
    expect(await workloads.pods()).toEqual([]);
  }),
);

test(
  'a job waits for terminating pods before it is finished',
  inCluster(async (workloads) => {
    await workloads.job({ activeDeadlineSeconds: 30, template: { spec: { nodeName: 'n1' } } });
    await workloads.wait(31_000);
    expect(conditions(await workloads.get())).toEqual(['FailureTarget True DeadlineExceeded: Job was active longer than specified deadline']);
    expect((await workloads.get()).status).toMatchObject({ terminating: 1, failed: 1 });
    const [pod] = await workloads.pods();
    expect(trackers([pod ?? expect.fail()])).toBe(0);
    ok(await workloads.client.delete(podKind, inDefault(pod?.metadata.name ?? ''), { gracePeriodSeconds: 0 }));
    await workloads.wait();
    expect(conditions(await workloads.get()).at(-1)).toContain('Failed True DeadlineExceeded');
    expect((await workloads.get()).status.terminating).toBe(0);
  }),
);

test(
  'a job can be suspended and resumed; the time in between does not count',
  inCluster(async (workloads) => {
    await workloads.job({ suspend: true, activeDeadlineSeconds: 60 });
    expect(await workloads.pods()).toEqual([]);
    expect(conditions(await workloads.get())).toEqual(['Suspended True JobSuspended: Job suspended']);
    await workloads.wait(100_000);
    await workloads.change((spec) => ({ ...spec, suspend: false }));
    expect(await workloads.pods()).toHaveLength(1);
    expect(conditions(await workloads.get())).toEqual(['Suspended False JobResumed: Job resumed']);
    const started = (await workloads.get()).status.startTime;
    await workloads.wait(30_000);
    await workloads.change((spec) => ({ ...spec, suspend: true }));
    expect(await workloads.pods()).toEqual([]);
    expect((await workloads.get()).status).toEqual({ conditions: expect.any(Array), ready: 0, terminating: 0, uncountedTerminatedPods: {} });
    await workloads.wait(30_000);
    await workloads.change((spec) => ({ ...spec, suspend: false }));
    expect((await workloads.get()).status.startTime).not.toBe(started);
    expect(conditions(await workloads.get())).toEqual(['Suspended False JobResumed: Job resumed']);
    expect((await workloads.events()).filter((event) => !event.includes('pod'))).toEqual(['Suspended: Job suspended', 'Resumed: Job resumed']);
  }),
);

test(
  'a deleted pod counts as failed and is replaced after a while; with policy Failed only once it has ended',
  inCluster(async (workloads) => {
    await workloads.job({});
    ok(await workloads.client.delete(podKind, inDefault((await workloads.onePod()).metadata.name ?? '')));
    await workloads.wait(5_000);
    expect(await workloads.pods()).toEqual([]);
    expect((await workloads.get()).status).toMatchObject({ failed: 1 });
    await workloads.wait(7_000);
    expect(await workloads.activePods()).toHaveLength(1);

    await workloads.job({ podReplacementPolicy: 'Failed', template: { spec: { nodeName: 'n1' } } }, 'patient');
    const patient = (await workloads.activePods()).find(({ metadata }) => metadata.name?.startsWith('patient'));
    ok(await workloads.client.delete(podKind, inDefault(patient?.metadata.name ?? '')));
    await workloads.wait(30_000);
    expect((await workloads.get('patient')).status).toMatchObject({ terminating: 1 });
    expect((await workloads.pods()).filter(({ metadata }) => metadata.name?.startsWith('patient'))).toHaveLength(1);
    await workloads.fail(patient ?? expect.fail());
    await workloads.wait(15_000);
    expect((await workloads.get('patient')).status).toMatchObject({ terminating: 0, failed: 1, active: 1 });
  }),
);

test(
  'a finished job is deleted after its TTL, with its pods',
  inCluster(async (workloads) => {
    await workloads.job({ ttlSecondsAfterFinished: 60 });
    await workloads.succeed(await workloads.onePod());
    await workloads.wait(58_000);
    expect((await workloads.get()).metadata.deletionTimestamp).toBeUndefined();
    await workloads.wait(3_000);
    const { metadata } = await workloads.get();
    expect(metadata).toMatchObject({ deletionTimestamp: expect.any(String), finalizers: ['foregroundDeletion'] });
  }),
);

test(
  'pods of a deleted job lose their finalizer',
  inCluster(async (workloads) => {
    await workloads.job({ parallelism: 2, completions: 2 });
    ok(await workloads.client.delete(jobKind, inDefault('backup'), { propagation: 'Background' }));
    await workloads.wait();
    const pods = await workloads.pods();
    expect(pods).toHaveLength(2);
    expect(trackers(pods)).toBe(0);
  }),
);

test(
  'refused pods do not keep ended ones from being counted',
  inCluster(async (workloads) => {
    await workloads.job({ parallelism: 2, completions: 5 });
    ok(await workloads.client.create(resourceQuotaKind, { metadata: inDefault('q'), spec: { hard: { pods: '0' } } }));
    for (const pod of await workloads.activePods()) await workloads.succeed(pod);
    await workloads.wait(5_000);
    expect((await workloads.get()).status).toMatchObject({ succeeded: 2 });
    const refused = (await workloads.events()).filter((event) => event.startsWith('FailedCreate: Error creating: pods "backup-'));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(6);
  }),
);

test(
  'a job with another managedBy is left alone',
  inCluster(async (workloads) => {
    await workloads.job({ managedBy: 'example.com/other' });
    await workloads.wait(1_000);
    expect(await workloads.pods()).toEqual([]);
    expect((await workloads.get()).status).toEqual({});
  }),
);
