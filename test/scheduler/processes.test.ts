/** Schedulers in processes of their own, against a server in another one, over HTTPS. */
import { expect, test } from 'vitest';
import { type MoorProcess, startMoor, startSchedulerProcess } from '../moor-process.ts';

const node = (name: string) => {
  const amount = { cpu: '4', memory: '8Gi', pods: '10' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { capacity: amount, allocatable: amount, conditions: [{ type: 'Ready', status: 'True' }] },
  };
};
const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { tolerations: [{ operator: 'Exists' }], containers: [{ name: 'app', image: 'pause' }] },
});

async function apply(moor: MoorProcess, ...objects: readonly object[]): Promise<void> {
  const text = objects.map((object) => JSON.stringify(object)).join('\n');
  expect(await moor.kubectlWith(text, 'create', '-f', '-')).toMatchObject({ code: 0, stderr: '' });
}
const scheduledWithin = (moor: MoorProcess, name: string, seconds: number) =>
  moor.kubectl('wait', '--for=condition=PodScheduled', `pod/${name}`, `--timeout=${seconds}s`);
const holder = async (moor: MoorProcess) =>
  (await moor.kubectl('get', 'lease', '-n', 'kube-system', 'moor-scheduler', '-o', 'jsonpath={.spec.holderIdentity}')).stdout.split('_')[0];

test.each([{ flags: [] }, { flags: ['--plain'] }])(
  'moor scheduler (moor up $flags): one decides, and when it is killed another goes on',
  async ({ flags }) => {
    await using moor = await startMoor({ args: ['--scheduler=false', ...flags] });
    await apply(moor, node('n1'), pod('first'));
    expect(await moor.kubectl('get', 'pod', 'first', '-o', 'jsonpath={.spec.nodeName}')).toMatchObject({ stdout: '' });
    await using one = await startSchedulerProcess(moor, 'one');
    expect(await scheduledWithin(moor, 'first', 10)).toMatchObject({ code: 0 });
    expect((await moor.kubectl('get', 'events', '-o', 'jsonpath={.items[*].message}')).stdout).toContain('Successfully assigned default/first to n1');
    await using other = await startSchedulerProcess(moor, 'other');
    expect(await holder(moor)).toBe('one');
    await one.stop('SIGKILL');
    await apply(moor, pod('second'));
    expect(await scheduledWithin(moor, 'second', 40)).toMatchObject({ code: 0 });
    expect(await holder(moor)).toBe('other');
    // It gives the lease back.
    expect(await other.stop()).toBe(0);
    expect(await holder(moor)).toBe('');
  },
  120_000,
);
