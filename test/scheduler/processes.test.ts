/** Schedulers as separate processes, against a server in another one, over HTTPS. */
import { expect, test } from 'vitest';
import { hastenLease, leaseHolder, type MoorProcess, startMoor, startSchedulerProcess } from '../moor-process.ts';

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
const scheduled = (moor: MoorProcess, name: string) => moor.kubectl('wait', '--for=condition=PodScheduled', `pod/${name}`, '--timeout=60s');
const holder = (moor: MoorProcess) => leaseHolder(moor, 'moor-scheduler');

test.each([{ flags: [] }, { flags: ['--plain'] }])(
  'moor scheduler (moor up $flags): one schedules, and when it is killed another takes over',
  async ({ flags }) => {
    await using moor = await startMoor({ args: ['--scheduler=false', ...flags] });
    await apply(moor, node('n1'), pod('first'));
    expect(await moor.kubectl('get', 'pod', 'first', '-o', 'jsonpath={.spec.nodeName}')).toMatchObject({ stdout: '' });
    await using one = await startSchedulerProcess(moor, 'one');
    expect(await scheduled(moor, 'first')).toMatchObject({ code: 0 });
    const events = async () => (await moor.kubectl('get', 'events', '-o', 'jsonpath={.items[*].message}')).stdout;
    await expect.poll(events).toContain('Successfully assigned default/first to n1');
    await using other = await startSchedulerProcess(moor, 'other');
    // The first process, unless it stalled for longer than its lease.
    const [leader, next, name] = (await holder(moor)) === 'one' ? [one, other, 'other'] : [other, one, 'one'];
    await leader.stop('SIGKILL');
    await hastenLease(moor, 'moor-scheduler');
    await apply(moor, pod('second'));
    expect(await scheduled(moor, 'second')).toMatchObject({ code: 0 });
    expect(await holder(moor)).toBe(name);
    // It releases the lease.
    expect(await next.stop()).toBe(0);
    expect(await holder(moor)).toBe('');
  },
);
