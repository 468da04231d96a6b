/** Nodes are taken out of service and put back, with pods that really move. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';

let moor: MoorProcess;
beforeAll(async () => {
  moor = await startMoor({ args: ['--nodes', '2', '--zones', 'a,b'] });
});
afterAll(() => moor[Symbol.asyncDispose]());

async function ok(...args: string[]): Promise<string> {
  const result = await moor.kubectl(...args);
  expect(result, `kubectl ${args.join(' ')}: ${result.stderr}`).toMatchObject({ code: 0 });
  return result.stdout;
}
const feed = (manifest: object) => moor.kubectlWith(JSON.stringify(manifest), 'create', '-f', '-');
const nodesOf = async (app: string) => (await ok('get', 'pods', '-l', `app=${app}`, '-o', 'jsonpath={.items[*].spec.nodeName}')).split(' ').sort();

async function deployed(name: string): Promise<void> {
  await ok('create', 'deployment', name, '--image=web:1', '--replicas=2');
  await ok('rollout', 'status', `deploy/${name}`, '--timeout=30s');
}

describe('kubectl', () => {
  test('cordon keeps new pods off a node, uncordon lets them back', async () => {
    expect(await ok('cordon', 'node-1')).toBe('node/node-1 cordoned\n');
    expect(await ok('cordon', 'node-1')).toBe('node/node-1 already cordoned\n');
    expect(await ok('get', 'node', 'node-1', '--no-headers')).toMatch(/^node-1\s+Ready,SchedulingDisabled\s/);
    await ok('wait', 'node/node-1', '--for=jsonpath={.spec.taints[0].key}=node.kubernetes.io/unschedulable', '--timeout=20s');
    await deployed('kept-off');
    expect(await nodesOf('kept-off')).toEqual(['node-2', 'node-2']);
    expect(await ok('uncordon', 'node-1')).toBe('node/node-1 uncordoned\n');
    expect(await ok('get', 'node', 'node-1', '--no-headers')).toMatch(/^node-1\s+Ready\s/);
  });

  test('drain moves the pods of deployments elsewhere', async () => {
    await deployed('moving');
    const drained = await ok('drain', 'node-1', '--timeout=30s');
    expect(drained).toMatch(/evicting pod default\/moving-\S+\n/);
    expect(drained).toMatch(/node\/node-1 drained\n$/);
    await ok('wait', 'deploy/moving', '--for=jsonpath={.status.availableReplicas}=2', '--timeout=30s');
    expect(await nodesOf('moving')).toEqual(['node-2', 'node-2']);
    await ok('uncordon', 'node-1');
  });

  test('drain refuses pods that nobody would make anew, unless it is forced', async () => {
    await ok('run', 'lonely', '--image=web:1', '--overrides={"spec":{"nodeName":"node-1"}}');
    await ok('wait', 'pod/lonely', '--for=condition=Ready', '--timeout=20s');
    const refused = await moor.kubectl('drain', 'node-1', '--timeout=20s');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Pods that declare no controller (use --force to override): default/lonely');
    expect(await ok('drain', 'node-1', '--force', '--timeout=30s')).toContain('pod/lonely evicted\n');
    expect((await moor.kubectl('get', 'pod', 'lonely')).code).toBe(1);
    await ok('uncordon', 'node-1');
  });

  test('drain leaves daemons where they are, if it may', async () => {
    const labels = { app: 'daemon' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'daemon:1' }] } };
    const daemons = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'daemon' }, spec: { selector: { matchLabels: labels }, template } };
    expect(await feed(daemons)).toMatchObject({ code: 0 });
    await ok('rollout', 'status', 'ds/daemon', '--timeout=30s');
    expect((await moor.kubectl('drain', 'node-2', '--timeout=20s')).stderr).toContain(
      'cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)',
    );
    await ok('drain', 'node-2', '--ignore-daemonsets', '--timeout=30s');
    expect(await nodesOf('daemon')).toEqual(['node-1', 'node-2']);
    await ok('uncordon', 'node-2');
    await ok('delete', 'ds/daemon');
  });

  test('drain waits for a disruption budget, and goes on once that allows it', async () => {
    await deployed('guarded');
    expect(await ok('create', 'pdb', 'guard', '--selector=app=guarded', '--min-available=2')).toBe('poddisruptionbudget.policy/guard created\n');
    await ok('wait', 'pdb/guard', '--for=jsonpath={.status.currentHealthy}=2', '--timeout=20s');
    const [node = ''] = await nodesOf('guarded');
    const refused = await moor.kubectl('drain', node, '--timeout=2s');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
    await ok('scale', 'deploy/guarded', '--replicas=4');
    await ok('wait', 'pdb/guard', '--for=jsonpath={.status.disruptionsAllowed}=2', '--timeout=30s');
    await ok('drain', node, '--timeout=30s');
    expect(new Set(await nodesOf('guarded')).has(node)).toBe(false);
    await ok('uncordon', node);
  });
});
