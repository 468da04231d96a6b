import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HttpTransport } from '../../src/client/http-transport.ts';
import { loadKubeconfig } from '../../src/client/http-transport-kubeconfig.ts';
import type { Informers } from '../../src/client/informers/informers.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { runKubelet } from '../controllers/deployment/cluster.ts';
import { type MoorProcess, startMoor } from '../moor-process.ts';

let moor: MoorProcess;
let kubelet: Informers;
beforeAll(async () => {
  moor = await startMoor();
  const world = createRealWorld({ logLevel: 'silent' });
  kubelet = runKubelet(new HttpTransport({ access: loadKubeconfig(moor.kubeconfig), world, userAgent: 'kubelet' }), world, 50);
});
afterAll(async () => {
  kubelet.stop();
  await moor[Symbol.asyncDispose]();
});

async function ok(...args: string[]): Promise<string> {
  const result = await moor.kubectl(...args);
  expect(result, `kubectl ${args.join(' ')}: ${result.stderr}`).toMatchObject({ code: 0 });
  return result.stdout;
}
const field = (ref: string, path: string) => ok('get', ref, '-o', `jsonpath={${path}}`);
const imageOf = (ref: string) => field(ref, '.spec.template.spec.containers[0].image');
const rolledOut = (name: string) => ok('rollout', 'status', `deploy/${name}`, '--timeout=60s');

async function deployed(name: string, image = 'web:1'): Promise<void> {
  await ok('create', 'deployment', name, `--image=${image}`, '--replicas=3');
  expect(await rolledOut(name)).toContain(`deployment "${name}" successfully rolled out\n`);
}

describe('kubectl rollout', () => {
  test('status follows a rollout and reports its end', async () => {
    await ok('create', 'deployment', 'followed', '--image=web:1', '--replicas=3');
    const output = await rolledOut('followed');
    expect(output.split('\n').at(-2)).toBe('deployment "followed" successfully rolled out');
    for (const line of output.split('\n').slice(0, -2))
      expect(line).toMatch(
        /^Waiting for deployment (spec update to be observed|"followed" rollout to finish: \d of 3 updated replicas are available|"followed" rollout to finish: \d out of 3 new replicas have been updated)\.\.\.$/,
      );
    expect(await ok('get', 'deploy', 'followed', '--no-headers')).toMatch(/^followed\s+3\/3\s+3\s+3\s/);
  });

  test('status of a stuck rollout fails at its progress deadline', async () => {
    await ok('create', 'deployment', 'stuck', '--image=broken');
    await ok('patch', 'deploy', 'stuck', '-p', '{"spec":{"progressDeadlineSeconds":1}}');
    const status = await moor.kubectl('rollout', 'status', 'deploy/stuck', '--timeout=60s');
    expect(status.code).toBe(1);
    expect(status.stderr).toContain('error: deployment "stuck" exceeded its progress deadline');
  });

  test('history, undo and undo --to-revision', async () => {
    await deployed('historic');
    for (const version of ['2', '3']) {
      await ok('set', 'image', 'deploy/historic', `web=web:${version}`);
      await ok('annotate', 'deploy/historic', '--overwrite', `kubernetes.io/change-cause=version ${version}`);
      await rolledOut('historic');
    }
    // A new annotation alone does not start a rollout.
    const history = () => ok('rollout', 'history', 'deploy/historic');
    await expect.poll(history).toBe('deployment.apps/historic \nREVISION  CHANGE-CAUSE\n1         <none>\n2         version 2\n3         version 3\n\n');
    expect(await ok('rollout', 'history', 'deploy/historic', '--revision=2')).toContain('Image:\tweb:2');
    expect(await ok('rollout', 'undo', 'deploy/historic')).toBe('deployment.apps/historic rolled back\n');
    await rolledOut('historic');
    expect(await imageOf('deploy/historic')).toBe('web:2');
    await expect.poll(history).toContain('REVISION  CHANGE-CAUSE\n1         <none>\n3         version 3\n4         version 2\n');
    await ok('rollout', 'undo', 'deploy/historic', '--to-revision=1');
    await rolledOut('historic');
    expect(await imageOf('deploy/historic')).toBe('web:1');
    expect((await moor.kubectl('rollout', 'undo', 'deploy/historic', '--to-revision=2')).stderr).toContain('unable to find specified revision 2 in history');
    expect(await ok('rollout', 'undo', 'deploy/historic', '--to-revision=5')).toContain('skipped rollback (current template already matches revision 5)');
  });

  test('restart replaces every pod', async () => {
    await deployed('restarted');
    const names = async () => (await ok('get', 'pods', '-l', 'app=restarted', '-o', 'name')).trim().split('\n');
    const before = new Set(await names());
    expect(await ok('rollout', 'restart', 'deploy/restarted')).toBe('deployment.apps/restarted restarted\n');
    await rolledOut('restarted');
    await expect.poll(async () => (await names()).filter((name) => before.has(name))).toEqual([]);
    expect(await names()).toHaveLength(3);
  });

  test('pause stops a rollout, resume continues it', async () => {
    await deployed('paused');
    expect(await ok('rollout', 'pause', 'deploy/paused')).toBe('deployment.apps/paused paused\n');
    await ok('set', 'image', 'deploy/paused', 'web=web:2');
    await ok('wait', 'deploy/paused', '--for=jsonpath={.status.observedGeneration}=3', '--timeout=60s');
    expect(await field('rs', '.items[?(@.metadata.labels.app=="paused")].spec.replicas')).toBe('3');
    expect(await ok('rollout', 'resume', 'deploy/paused')).toBe('deployment.apps/paused resumed\n');
    await rolledOut('paused');
    expect(
      await ok('get', 'pods', '-l', 'app=paused', '-o', 'jsonpath={.items[*].spec.containers[0].image}', '--field-selector=status.phase=Running'),
    ).toContain('web:2');
  });
});

describe('kubectl', () => {
  test('scale changes the replicas, if --current-replicas matches', async () => {
    await deployed('scaled');
    expect(await ok('scale', 'deploy/scaled', '--replicas=5', '--current-replicas=3')).toBe('deployment.apps/scaled scaled\n');
    await ok('wait', 'deploy/scaled', '--for=jsonpath={.status.availableReplicas}=5', '--timeout=60s');
    expect((await moor.kubectl('scale', 'deploy/scaled', '--replicas=2', '--current-replicas=3')).stderr).toContain('Expected replicas to be 3, was 5');
    await ok('scale', 'deploy/scaled', '--replicas=0');
    await ok('wait', 'pods', '-l', 'app=scaled', '--for=delete', '--timeout=60s');
    expect(await rolledOut('scaled')).toMatch(/^deployment "scaled" successfully rolled out\n$/m);
  });

  test('describe shows ReplicaSets and events', async () => {
    await deployed('described');
    const output = await ok('describe', 'deploy/described');
    expect(output).toMatch(/^Replicas:\s+3 desired \| 3 updated \| 3 total \| 3 available \| 0 unavailable$/m);
    expect(output).toMatch(/^NewReplicaSet:\s+described-\w+ \(3\/3 replicas created\)$/m);
    expect(output).toMatch(/Progressing\s+True\s+NewReplicaSetAvailable/);
    const event = /Normal\s+ScalingReplicaSet\s+\S+\s+deployment-controller\s+Scaled up replica set described-\w+ from 0 to 3/;
    await expect.poll(() => ok('describe', 'deploy/described')).toMatch(event);
  });

  test('wait for a Deployment to become available', async () => {
    await ok('create', 'deployment', 'awaited', '--image=web:1');
    expect(await ok('wait', 'deploy/awaited', '--for=condition=Available', '--timeout=60s')).toBe('deployment.apps/awaited condition met\n');
  });

  test('get events --watch prints new events', async () => {
    const events = moor.spawnKubectl(
      'get',
      'events',
      '--watch',
      '--field-selector=reason=ScalingReplicaSet',
      '-o',
      'jsonpath={.involvedObject.name} {.message}{"\\n"}',
    );
    const ended = once(events, 'exit');
    const shown = (async () => {
      let text = '';
      for await (const chunk of events.stdout) {
        text += String(chunk);
        if (/^watched Scaled up replica set watched-\w+ from 0 to 1$/m.test(text)) return 'shown';
      }
      return text;
    })();
    await ok('create', 'deployment', 'watched', '--image=web:1');
    expect(await shown).toBe('shown');
    events.kill();
    await ended;
  });

  test('delete also deletes ReplicaSets and pods, unless with --cascade=orphan', async () => {
    await deployed('deleted');
    await ok('delete', 'deploy/deleted', '--cascade=orphan');
    expect(await ok('get', 'rs', '-l', 'app=deleted', '-o', 'name')).not.toBe('');
    await deployed('deleted');
    expect(await ok('get', 'pods', '-l', 'app=deleted', '-o', 'name')).toMatch(/^(pod\/deleted-\S+\n){3}$/);
    await ok('delete', 'deploy/deleted', '--cascade=foreground');
    expect(await ok('get', 'rs,pods', '-l', 'app=deleted', '-o', 'name')).toBe('');
  });
});
