import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';

let moor: MoorProcess;
beforeAll(async () => {
  moor = await startMoor();
});
afterAll(() => moor[Symbol.asyncDispose]());

async function ok(...args: string[]): Promise<string> {
  const result = await moor.kubectl(...args);
  expect(result, `kubectl ${args.join(' ')}: ${result.stderr}`).toMatchObject({ code: 0 });
  return result.stdout;
}
const podsOf = async (job: string): Promise<string[]> =>
  (await ok('get', 'pods', '-l', `job-name=${job}`, '-o', 'name')).split('\n').filter((name) => name !== '');

/** No node runs the pods: this writes the status that a kubelet would write. */
async function endPods(job: string, phase: 'Succeeded' | 'Failed'): Promise<void> {
  await ok('wait', 'pods', '-l', `job-name=${job}`, '--for=create', '--timeout=60s');
  for (const pod of await podsOf(job)) await ok('patch', pod, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status: { phase } }));
}

describe('kubectl and Jobs', () => {
  test('create, wait and describe', async () => {
    expect(await ok('create', 'job', 'backup', '--image=tool')).toBe('job.batch/backup created\n');
    const waiting = moor.spawnKubectl('wait', 'job/backup', '--for=condition=complete', '--timeout=60s');
    const ended = once(waiting, 'exit');
    await endPods('backup', 'Succeeded');
    expect((await ended)[0]).toBe(0);
    expect(await ok('get', 'job', 'backup', '--no-headers')).toMatch(/^backup\s+Complete\s+1\/1\s+\d+\S*s\s+\d+\S*s\n$/);
    const described = () => ok('describe', 'job', 'backup');
    expect(await described()).toMatch(/Pods Statuses:\s+0 Active \(0 Ready\) \/ 1 Succeeded \/ 0 Failed/);
    await expect.poll(described).toMatch(/Normal\s+SuccessfulCreate\s+\S+\s+job-controller\s+Created pod: backup-/);
    await expect.poll(described).toMatch(/Normal\s+Completed\s+\S+\s+job-controller\s+Job completed/);
  });

  test('wait for a failed Job', async () => {
    await ok('create', 'job', 'broken', '--image=tool');
    await ok('delete', 'job', 'broken');
    const manifest = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'broken' } };
    const spec = { backoffLimit: 0, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'tool' }] } } };
    expect(await moor.kubectlWith(JSON.stringify({ ...manifest, spec }), 'create', '-f', '-')).toMatchObject({ code: 0 });
    await endPods('broken', 'Failed');
    await ok('wait', 'job/broken', '--for=condition=failed', '--timeout=60s');
    expect(await ok('get', 'job', 'broken', '-o', 'jsonpath={.status.conditions[?(@.type=="Failed")].reason}')).toBe('BackoffLimitExceeded');
  });

  test('delete also deletes the pods', async () => {
    await ok('create', 'job', 'short', '--image=tool');
    await ok('wait', 'pods', '-l', 'job-name=short', '--for=create', '--timeout=60s');
    await ok('delete', 'job', 'short', '--cascade=foreground');
    expect(await podsOf('short')).toEqual([]);
  });

  test('create cronjob, and a Job from it by hand', async () => {
    // Its schedule is a leap day, so that it does not start during the test.
    await ok('create', 'cronjob', 'nightly', '--image=tool', '--schedule=0 3 29 2 *', '--', 'backup', '--all');
    expect(await ok('get', 'cronjob', 'nightly', '--no-headers')).toMatch(/^nightly\s+0 3 29 2 \*\s+<none>\s+False\s+0\s+<none>\s/);
    expect(await ok('create', 'job', '--from=cronjob/nightly', 'now')).toBe('job.batch/now created\n');
    await endPods('now', 'Succeeded');
    await ok('wait', 'job/now', '--for=condition=complete', '--timeout=60s');
    expect(await ok('get', 'job', 'now', '-o', 'jsonpath={.spec.template.spec.containers[0].command}')).toBe('["backup","--all"]');
    // As in Kubernetes: the CronJob owns it, although the schedule did not create it.
    const events = () => ok('get', 'events', '--field-selector', 'involvedObject.name=nightly', '-o', 'jsonpath={.items[*].message}');
    await expect.poll(events).toBe('Saw a job that the controller did not create or forgot: now');
    await expect.poll(() => ok('get', 'cronjob', 'nightly', '-o', 'jsonpath={.status.lastSuccessfulTime}')).toMatch(/^\d{4}-/);
    await ok('delete', 'cronjob', 'nightly');
    await ok('wait', 'job/now', '--for=delete', '--timeout=60s');
  });

  test('a CronJob that is due starts Jobs', async () => {
    const jobTemplate = { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'tool' }] } } } };
    const cronJob = { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'often' }, spec: { schedule: '@every 1s', jobTemplate } };
    expect(await moor.kubectlWith(JSON.stringify(cronJob), 'create', '-f', '-')).toMatchObject({ code: 0 });
    await ok('wait', 'cronjob/often', '--for=jsonpath={.status.active[0].kind}=Job', '--timeout=60s');
    const events = () => ok('get', 'events', '--field-selector', 'involvedObject.name=often,reason=SuccessfulCreate', '-o', 'jsonpath={.items[*].message}');
    await expect.poll(events).toMatch(/^Created job often-\d{8}\b/);
    await ok('delete', 'cronjob', 'often');
  });
});

describe('kubectl and DaemonSets', () => {
  const image = (name: string) => ({ spec: { template: { spec: { containers: [{ name: 'app', image: name }] } } } });
  const node = (name: string) => JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

  /** Writes what the scheduler and kubelets would write. */
  async function runPods(): Promise<void> {
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] };
    for (const pod of (await ok('get', 'pods', '-l', 'app=driver', '-o', 'name')).split('\n').filter((name) => name !== '')) {
      await moor.kubectl('patch', pod, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }));
    }
  }

  /** Until kubectl ends. */
  async function rolledOut(): Promise<string> {
    const waiting = moor.spawnKubectl('rollout', 'status', 'ds/driver', '--timeout=60s');
    const ended = once(waiting, 'exit');
    let told = '';
    waiting.stdout.on('data', (text: Buffer) => (told += text.toString()));
    while (waiting.exitCode === null && !told.includes('successfully')) await runPods();
    expect((await ended)[0]).toBe(0);
    return told;
  }

  test('rollout status, history and undo', async () => {
    for (const name of ['n1', 'n2']) expect(await moor.kubectlWith(node(name), 'create', '-f', '-')).toMatchObject({ code: 0 });
    const template = { metadata: { labels: { app: 'driver' } }, spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'app', image: 'driver:1' }] } };
    const set = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'driver' }, spec: { selector: { matchLabels: { app: 'driver' } }, template } };
    expect(await moor.kubectlWith(JSON.stringify(set), 'create', '-f', '-')).toMatchObject({ code: 0 });
    await ok('wait', 'ds/driver', '--for=jsonpath={.status.desiredNumberScheduled}=2', '--timeout=60s');
    expect(await rolledOut()).toContain('daemon set "driver" successfully rolled out');
    expect(await ok('get', 'ds', 'driver', '--no-headers')).toMatch(/^driver\s+2\s+2\s+2\s+2\s+2\s+<none>\s/);
    await ok('patch', 'ds', 'driver', '-p', JSON.stringify(image('driver:2')));
    expect(await rolledOut()).toContain('daemon set "driver" successfully rolled out');
    const images = () => ok('get', 'pods', '-l', 'app=driver', '-o', 'jsonpath={.items[*].spec.containers[0].image}');
    expect(await images()).toBe('driver:2 driver:2');
    expect(await ok('rollout', 'history', 'ds/driver')).toBe('daemonset.apps/driver \nREVISION  CHANGE-CAUSE\n1         <none>\n2         <none>\n\n');
    expect(await ok('rollout', 'undo', 'ds/driver')).toBe('daemonset.apps/driver rolled back\n');
    await rolledOut();
    expect(await images()).toBe('driver:1 driver:1');
    expect(await ok('rollout', 'history', 'ds/driver')).toBe('daemonset.apps/driver \nREVISION  CHANGE-CAUSE\n2         <none>\n3         <none>\n\n');
    expect(await ok('rollout', 'restart', 'ds/driver')).toBe('daemonset.apps/driver restarted\n');
    await rolledOut();
  });
});
