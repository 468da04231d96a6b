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
const rolledOut = (name: string) => ok('rollout', 'status', `sts/${name}`, '--timeout=60s');
const images = (name: string) => ok('get', 'pods', '-l', `app=${name}`, '-o', 'jsonpath={.items[*].spec.containers[0].image}');

const manifest = (name: string, more: object = {}) =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: {
      replicas: 3,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }],
      ...more,
    },
  });

async function applied(name: string, more: object = {}): Promise<void> {
  expect(await moor.kubectlWith(manifest(name, more), 'apply', '-f', '-')).toMatchObject({ code: 0 });
  await rolledOut(name);
}

describe('kubectl rollout on a StatefulSet', () => {
  test('status follows a rollout to its end', async () => {
    await applied('followed');
    // A pod that never gets ready: the rollout cannot end before kubectl's first request.
    await ok('set', 'image', 'sts/followed', 'web=broken');
    const following = moor.spawnKubectl('rollout', 'status', 'sts/followed', '--timeout=100s');
    const ended = once(following, 'exit');
    let told = '';
    following.stdout.on('data', (text: Buffer) => (told += text.toString()));
    await expect.poll(() => told).toContain('Waiting for 1 pods to be ready...\n');
    await ok('set', 'image', 'sts/followed', 'web=web:2');
    await ok('delete', 'pod', 'followed-2', '--timeout=60s');
    expect((await ended)[0]).toBe(0);
    await expect.poll(() => told).toMatch(/partitioned roll out complete: 3 new pods have been updated\.\.\.\n$/);
    expect(await rolledOut('followed')).toMatch(/^partitioned roll out complete/);
    expect(await images('followed')).toBe('web:2 web:2 web:2');
    expect(await ok('get', 'sts', 'followed', '--no-headers')).toMatch(/^followed\s+3\/3\s/);
  });

  test('history, undo and undo --to-revision', async () => {
    await applied('historic');
    for (const version of ['2', '3']) {
      await ok('set', 'image', 'sts/historic', `web=web:${version}`);
      await rolledOut('historic');
    }
    expect(await ok('rollout', 'history', 'sts/historic')).toBe(
      'statefulset.apps/historic \nREVISION  CHANGE-CAUSE\n1         <none>\n2         <none>\n3         <none>\n\n',
    );
    expect(await ok('rollout', 'history', 'sts/historic', '--revision=2')).toContain('Image:\tweb:2');
    expect(await ok('rollout', 'undo', 'sts/historic')).toBe('statefulset.apps/historic rolled back\n');
    await rolledOut('historic');
    expect(await images('historic')).toBe('web:2 web:2 web:2');
    expect(await ok('rollout', 'history', 'sts/historic')).toContain('REVISION  CHANGE-CAUSE\n1         <none>\n3         <none>\n4         <none>\n');
    await ok('rollout', 'undo', 'sts/historic', '--to-revision=1');
    await rolledOut('historic');
    expect(await images('historic')).toBe('web:1 web:1 web:1');
    expect((await moor.kubectl('rollout', 'undo', 'sts/historic', '--to-revision=2')).stderr).toContain('unable to find specified revision 2 in history');
  });

  test('restart replaces every pod, and no PVC', async () => {
    await applied('restarted');
    const uids = (kind: string) => ok('get', kind, '-l', 'app=restarted', '-o', 'jsonpath={.items[*].metadata.uid}');
    const [pods, claims] = [await uids('pods'), await uids('pvc')];
    expect(await ok('rollout', 'restart', 'sts/restarted')).toBe('statefulset.apps/restarted restarted\n');
    await rolledOut('restarted');
    const after = (await uids('pods')).split(' ');
    expect(after.filter((uid) => pods.includes(uid))).toEqual([]);
    expect(await uids('pvc')).toBe(claims);
  });

  test('status with a partition reports how many pods are updated', async () => {
    await applied('partitioned', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } });
    await ok('set', 'image', 'sts/partitioned', 'web=web:2');
    expect(await rolledOut('partitioned')).toContain('partitioned roll out complete: 1 new pods have been updated...\n');
    expect(await images('partitioned')).toBe('web:1 web:1 web:2');
  });
});

describe('kubectl on a StatefulSet', () => {
  test('scaling down and up keeps the PVCs', async () => {
    await applied('scaled');
    const claims = () => ok('get', 'pvc', '-l', 'app=scaled', '-o', 'jsonpath={.items[*].metadata.uid}');
    const before = await claims();
    await ok('scale', 'sts/scaled', '--replicas=1');
    await ok('wait', 'sts/scaled', '--for=jsonpath={.status.replicas}=1', '--timeout=60s');
    await expect.poll(() => ok('get', 'pods', '-l', 'app=scaled', '-o', 'name')).toBe('pod/scaled-0\n');
    await ok('scale', 'sts/scaled', '--replicas=3');
    await rolledOut('scaled');
    expect(await claims()).toBe(before);
  });

  test('describe shows pods, volume claims and events', async () => {
    await applied('described');
    const told = await ok('describe', 'sts/described');
    expect(told).toMatch(/^Replicas:\s+3 desired \| 3 total$/m);
    expect(told).toMatch(/^Pods Status:\s+3 Running \/ 0 Waiting \/ 0 Succeeded \/ 0 Failed$/m);
    const created = (what: string) =>
      new RegExp(`Normal\\s+SuccessfulCreate\\s+\\S+\\s+statefulset-controller\\s+Create ${what} in StatefulSet described success`);
    for (const what of ['Claim data-described-0 Pod described-0', 'Pod described-2']) {
      await expect.poll(() => ok('describe', 'sts/described')).toMatch(created(what));
    }
  });

  test('delete --cascade=orphan leaves pods and revisions, and the next set of the same name adopts them', async () => {
    await applied('orphaning');
    const uids = () => ok('get', 'pods,controllerrevisions', '-l', 'app=orphaning', '-o', 'jsonpath={.items[*].metadata.uid}');
    const before = await uids();
    await ok('delete', 'sts/orphaning', '--cascade=orphan');
    expect(await uids()).toBe(before);
    await applied('orphaning');
    expect(await uids()).toBe(before);
    await ok('delete', 'sts/orphaning', '--cascade=foreground');
    expect(await uids()).toBe('');
    expect(await ok('get', 'pvc', '-l', 'app=orphaning', '-o', 'name')).toMatch(/^(persistentvolumeclaim\/data-orphaning-\d\n){3}$/);
  });

  test('volume claim templates can grow only with the annotation on the set', async () => {
    await applied('growing');
    const grow = (name: string) =>
      moor.kubectl(
        'patch',
        'sts',
        name,
        '--type=json',
        '-p',
        JSON.stringify([{ op: 'replace', path: '/spec/volumeClaimTemplates/0/spec/resources/requests/storage', value: '2Gi' }]),
      );
    expect((await grow('growing')).stderr).toContain(
      'The StatefulSet "growing" is invalid: spec: Forbidden: updates to statefulset spec for fields other than',
    );
    await ok('annotate', 'sts/growing', 'mooring.dev/grow-claims=true');
    expect(await grow('growing')).toMatchObject({ code: 0 });
  });
});
