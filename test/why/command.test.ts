import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Explanation } from '../../src/why/explanation/explanation.ts';
import { type MoorProcess, root, runMoor, startMoor } from '../moor-process.ts';
import { startForeignCluster } from './foreign-cluster.ts';

const volume = (name: string, size: string, mode: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: { capacity: { storage: size }, accessModes: [mode], storageClassName: '', hostPath: { path: `/tmp/${name}` } },
});
const claim = (name: string, size: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: size } } },
});

describe('moor why on a running Mooring', () => {
  let moor: MoorProcess;
  beforeAll(async () => {
    moor = await startMoor({ args: ['--store', 'memory'] });
    const items = [volume('small', '1Gi', 'ReadWriteOnce'), volume('readable', '9Gi', 'ReadOnlyMany'), claim('data', '5Gi')];
    expect(await moor.kubectlWith(items.map((item) => JSON.stringify(item)).join('\n'), 'create', '-f', '-')).toMatchObject({ code: 0, stderr: '' });
    const available = ['--for=jsonpath={.status.phase}=Available', 'pv/small', 'pv/readable', '--timeout=60s'];
    expect(await moor.kubectl('wait', ...available)).toMatchObject({ code: 0 });
  });
  afterAll(() => moor[Symbol.asyncDispose]());

  const why = (...args: string[]) => runMoor('why', ...args, '--kubeconfig', moor.kubeconfig);

  test('names the volumes, the rules that refuse them, and the fixes', async () => {
    const { code, stdout, stderr } = await why('pvc/data');
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    expect(stdout).toMatch(/^pvc\/data in namespace default: Pending, for \d+ [a-z ,\d]+\n/);
    expect(stdout).toContain('  pv/readable  9Gi  ROX  -  Available  offers ReadOnlyMany, not ReadWriteOnce\n');
    expect(stdout).toContain('  pv/small     1Gi  RWO  -  Available  is too small: 1Gi, requested is at least 5Gi\n');
    expect(stdout).toContain('create a volume of at least 5Gi with ReadWriteOnce without a StorageClass');
  });

  test('without a target: everything that is stuck, with an exit code', async () => {
    const { code, stdout } = await why();
    expect(code).toBe(3);
    expect(stdout).toMatch(/^pvc\/data -n default {2}Pending {2}\d+ [a-z]+ {2}No volume fits\..*\n\n1 object stuck\./);
    expect(await why('-n', 'kube-system')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing is stuck\./) as string });
    expect(JSON.parse((await why('-o', 'json')).stdout)).toMatchObject({ stuck: [{ about: { kind: 'pvc', namespace: 'default', name: 'data' } }] });
  });

  test('as a plugin of kubectl', async () => {
    const plugins = path.join(moor.dataDir, 'plugins');
    mkdirSync(plugins);
    symlinkSync(path.join(root, 'dist/main/kubectl-why.js'), path.join(plugins, 'kubectl-why'));
    const script = path.join(moor.dataDir, 'plugin.sh');
    writeFileSync(script, `PATH="${plugins}:$PATH"\nkubectl why pvc/data -n default -o json\n`);
    const { code, stdout } = await moor.bash(script);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ code: 'NoVolumeFits' });
  });

  test('gives the same explanation after every Event is deleted', async () => {
    const ask = async () => {
      const { asOf, ...explained } = JSON.parse((await why('pvc', 'data', '-n', 'default', '-o', 'json')).stdout) as Explanation;
      expect(asOf).toMatch(/^\d{4}-.*Z$/);
      return explained;
    };
    const before = await ask();
    await moor.kubectl('delete', 'events', '--all', '-A');
    expect(await ask()).toEqual(before);
    expect(before.code).toBe('NoVolumeFits');
  });

  test('its fix works: the claim is bound after the command that it names', async () => {
    const { fixes } = JSON.parse((await why('pvc/data', '-o', 'json')).stdout) as Explanation;
    const command = fixes.flatMap(({ commands }) => commands).find((line) => line.startsWith('kubectl patch pv readable')) ?? '';
    const [, patch = ''] = /-p '(.*)'$/.exec(command) ?? [];
    await moor.kubectl('patch', 'pv', 'readable', '-p', patch);
    expect(await moor.kubectl('wait', '--for=jsonpath={.status.phase}=Bound', 'pvc/data', '--timeout=60s')).toMatchObject({ code: 0 });
    expect((await why('pvc/data')).stdout).toContain(
      'The claim is bound to pv/readable (9Gi, ReadWriteOnce, ReadOnlyMany, Retain). Nothing is wrong with\nit.',
    );
    expect((await why('pv/readable')).stdout).toContain('The volume is bound to claim default/data.');
  });

  test('--watch prints again when the answer changes, and ends when the object is fine', async () => {
    expect(await moor.kubectlWith(JSON.stringify(claim('late', '2Gi')), 'create', '-f', '-')).toMatchObject({ code: 0 });
    const watching = why('pvc/late', '--watch', '-o', 'json');
    expect((await why('pvc/late', '-o', 'json')).code).toBe(3);
    expect(await moor.kubectlWith(JSON.stringify(volume('for-late', '2Gi', 'ReadWriteOnce')), 'create', '-f', '-')).toMatchObject({ code: 0 });
    const { code, stdout } = await watching;
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Explanation).verdict);
    expect({ code, first: answers[0], last: answers.at(-1) }).toEqual({ code: 0, first: 'stuck', last: 'fine' });
  });

  test('an object that does not exist: the nearest name, and exit code 1', async () => {
    const { code, stdout } = await why('pv/smal');
    expect(code).toBe(1);
    expect(stdout).toContain('There is no pv/smal. Is pv/small meant?');
    expect((await why('va/csi-1')).code).toBe(1);
    expect((await why('pod/web')).stdout).toContain('There is no pod/web in namespace default.');
  });
});

describe('moor why on any Kubernetes', () => {
  const managed = (manager: string, time: string, fields: object) => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
  });
  const pending = {
    metadata: {
      name: 'data',
      namespace: 'shop',
      uid: 'c1',
      resourceVersion: '7',
      creationTimestamp: '2025-01-01T00:00:00Z',
      finalizers: ['kubernetes.io/pvc-protection'],
      managedFields: [managed('kubectl-create', '2025-01-01T00:00:00Z', { 'f:spec': { 'f:accessModes': {} } })],
    },
    spec: {
      accessModes: ['ReadWriteMany'],
      resources: { requests: { storage: '5Gi' } },
      storageClassName: 'slow',
      volumeMode: 'Filesystem',
      aFieldOfTheFuture: { x: 1 },
    },
    status: { phase: 'Pending' },
  };
  const lost = {
    ...pending,
    metadata: {
      ...pending.metadata,
      name: 'old',
      uid: 'c2',
      annotations: { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' },
      managedFields: [managed('kube-controller-manager', '2025-01-02T00:00:00Z', { 'f:status': { 'f:phase': {} } })],
    },
    spec: { ...pending.spec, volumeName: 'pv-9' },
    status: { phase: 'Lost' },
  };
  const nfs = {
    metadata: { name: 'nfs-1', uid: 'v1', creationTimestamp: '2025-01-01T00:00:00Z', managedFields: [managed('kubectl-create', '2025-01-01T00:00:00Z', {})] },
    spec: {
      capacity: { storage: '10Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'slow',
      volumeMode: 'Filesystem',
      nfs: { server: 'nfs.example', path: '/' },
    },
    status: { phase: 'Available', lastPhaseTransitionTime: '2025-01-01T00:00:01Z' },
  };
  const lists = {
    persistentvolumeclaims: { kind: 'PersistentVolumeClaim', items: [pending, lost] },
    persistentvolumes: { kind: 'PersistentVolume', items: [nfs] },
    storageclasses: {
      kind: 'StorageClass',
      items: [{ metadata: { name: 'slow' }, provisioner: 'nfs.example.com', volumeBindingMode: 'Immediate' }],
    },
    pods: { kind: 'Pod', items: [] },
  };

  test('reads, never writes, and names what it may not read', async () => {
    await using cluster = await startForeignCluster(lists);
    const { code, stdout } = await runMoor('why', 'pvc/data', '-n', 'shop', '--server', cluster.url);
    expect(code).toBe(0);
    expect(stdout).toContain('No volume fits the claim, so provisioner nfs.example.com has to create one.');
    expect(stdout).toContain('  pv/nfs-1  10Gi  RWO  slow  Available  offers ReadWriteOnce, not ReadWriteMany\n');
    expect(stdout).toContain(`kubectl patch pv nfs-1 -p '{"spec":{"accessModes":["ReadWriteOnce","ReadWriteMany"]}}'`);
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      'Could not read csidrivers.storage.k8s.io: csidrivers is forbidden: User "jane" cannot list resource "csidrivers" at the cluster scope',
    );
    expect(cluster.requests.filter((request) => !request.startsWith('GET '))).toEqual([]);
  });

  test('managedFields tell since when a claim is Lost', async () => {
    await using cluster = await startForeignCluster(lists);
    const explained = JSON.parse((await runMoor('why', 'pvc/old', '-n', 'shop', '-o', 'json', '--server', cluster.url)).stdout) as Explanation;
    expect(explained).toMatchObject({ state: 'Lost', since: '2025-01-02T00:00:00Z', code: 'ClaimLost', verdict: 'stuck' });
  });
});

describe('moor why with wrong arguments', () => {
  const before = { KUBECONFIG: process.env['KUBECONFIG'], HOME: process.env['HOME'], XDG_STATE_HOME: process.env['XDG_STATE_HOME'] };
  const home = mkdtempSync(path.join(tmpdir(), 'mooring-why-'));
  afterEach(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  test.each([
    [
      ['why', 'svc/web', '--server', 'http://127.0.0.1:1'],
      'the target is pvc, pv, pod, va, sts, deploy, job, node, sc, driver, ns, quota or vs, with /NAME, not "svc/web"',
    ],
    [['why', 'pvc/data', '-o', 'xml'], '--output must be one of text, json, not "xml"'],
    [['why', 'pvc/data', '--server', 'localhost'], '--server must be a URL'],
    [['why', 'pvc/data', '--kubeconfig', '/nowhere/config'], 'there is no such kubeconfig (/nowhere/config)'],
  ])('%j', async (args, message) => {
    const { code, stderr } = await runMoor(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('a cluster that does not answer', async () => {
    const { code, stderr } = await runMoor('why', 'pvc/data', '--server', 'http://127.0.0.1:1');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^moor why: the cluster does not answer: .*ECONNREFUSED.*\n$/) as string });
  });

  test('no kubeconfig anywhere, or only one that cannot be used', async () => {
    delete process.env['KUBECONFIG'];
    process.env['HOME'] = home;
    process.env['XDG_STATE_HOME'] = path.join(home, 'state');
    expect((await runMoor('why', 'pvc/data')).stderr).toContain(
      `no kubeconfig at ${home}/.kube/config or ${home}/state/mooring/kubeconfig. Start a cluster with "moor up", or name one with --kubeconfig FILE.`,
    );
    const file = path.join(home, 'config');
    writeFileSync(
      file,
      JSON.stringify({
        'current-context': 'eks',
        contexts: [{ name: 'eks', context: { cluster: 'eks', user: 'me' } }],
        clusters: [{ name: 'eks', cluster: { server: 'https://127.0.0.1:1' } }],
        users: [{ name: 'me', user: { exec: { command: 'aws' } } }],
      }),
    );
    process.env['KUBECONFIG'] = `/nowhere:${file}`;
    expect((await runMoor('why', 'pvc/data')).stderr).toMatch(/uses exec, which is not supported.*use "kubectl proxy" with --server URL/);
  });
});
