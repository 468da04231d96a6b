/** `moor simulate` as a command; and on a copy of a running cluster, for a user who may only list. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, runMoor, startMoor } from '../moor-process.ts';
import { examples } from './scenarios.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'mooring-simulate-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const full = path.join(directory, name);
  writeFileSync(full, text);
  return full;
}

describe('moor simulate FILE', () => {
  test('prints timeline, end state and expectations; 0 if all held', async () => {
    const { code, stdout, stderr } = await runMoor('simulate', path.join(examples, 'released-not-reusable.yaml'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^ {2}0s {2}you +pv\/archive created: 10Gi, Retain\n/);
    expect(stdout).toMatch(/\nNAME +CAPACITY +ACCESS MODES +RECLAIM POLICY +STATUS +CLAIM/);
    expect(stdout).toMatch(/✓ by 5m10s pvc\/data is Bound to pv\/archive\n\n4 of 4 as expected \(seed 1\)\n$/);
  });

  test('1 if an expectation failed; -o json prints the same as data', async () => {
    const wrong = file('wrong.yaml', 'cluster: {nodes: 1}\nexpect: [at 1s there are 7 nodes]\nfor: 2s');
    const { code, stdout } = await runMoor('simulate', wrong, '-o', 'json', '--seed', '9');
    expect(code).toBe(1);
    const report = JSON.parse(stdout) as { seed: number; expectations: unknown; end: { nodes: { kind: string }[] } };
    expect(report).toMatchObject({ seed: 9, expectations: [{ text: 'at 1s there are 7 nodes', held: false, found: 'there are 1: node/node-1', at: 1 }] });
    expect(report.end.nodes).toMatchObject([{ kind: 'Node', metadata: { name: 'node-1' } }]);
  });

  test('2 if the file is invalid, with the position', async () => {
    const bad = file('bad.yaml', 'script:\n  - at 1m node-1 dyes\n');
    expect(await runMoor('simulate', bad)).toEqual({
      code: 2,
      stdout: '',
      stderr: `moor simulate: ${bad}:2:5: script[0]: "dyes" is not expected there; did you mean "dies"?\n`,
    });
    expect(await runMoor('simulate', path.join(directory, 'none.yaml'))).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot read') as string });
    expect(await runMoor('simulate', bad, '--seed', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--seed must be a whole number') as string,
    });
    expect(await runMoor('simulate', bad, '--kubeconfig', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it needs --from-cluster') as string,
    });
  });
});

const app = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: zonal }
provisioner: hollow.csi.mooring.dev
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: Secret
metadata: { name: password }
stringData: { key: do-not-copy }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: web }
spec:
  replicas: 3
  serviceName: web
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
        - name: web
          image: web
          env: [{ name: KEY, valueFrom: { secretKeyRef: { name: password, key: key } } }]
          volumeMounts: [{ name: data, mountPath: /data }]
  volumeClaimTemplates:
    - metadata: { name: data }
      spec: { storageClassName: zonal, accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`;

const listed = `namespaces nodes pods persistentvolumes persistentvolumeclaims serviceaccounts statefulsets.apps controllerrevisions.apps
  csinodes.storage.k8s.io csidrivers.storage.k8s.io storageclasses.storage.k8s.io volumeattachments.storage.k8s.io`.split(/\s+/);

describe('moor simulate --from-cluster', () => {
  let moor: MoorProcess;
  beforeAll(async () => {
    moor = await startMoor({ bare: false, args: ['--store', 'memory'] });
    expect(await moor.kubectlWith(app, 'apply', '-f', '-')).toMatchObject({ code: 0 });
    expect(await moor.kubectl('wait', '--for=jsonpath={.status.readyReplicas}=3', 'statefulset/web', '--timeout=60s')).toMatchObject({ code: 0 });
    await moor.kubectl('taint', 'node', 'node-3', 'gpu=yes:NoSchedule');
    await moor.kubectl('create', 'serviceaccount', 'lister');
    await moor.kubectl('create', 'clusterrole', 'lister', '--verb=list', `--resource=${listed.join(',')}`);
    await moor.kubectl('create', 'clusterrolebinding', 'lister', '--clusterrole=lister', '--serviceaccount=default:lister');
    const token = (await moor.kubectl('create', 'token', 'lister', '--duration=20m')).stdout.trim();
    await moor.kubectl('config', 'set-credentials', 'lister', `--token=${token}`);
    await moor.kubectl('config', 'set-context', 'reading', '--cluster=mooring', '--user=lister');
  });
  afterAll(() => moor[Symbol.asyncDispose]());

  const simulate = (...args: string[]) => runMoor('simulate', ...args, '--from-cluster', '--kubeconfig', moor.kubeconfig, '--context', 'reading');

  test('simulates the loss of a zone, for a user who may only list', async () => {
    const before = await moor.kubectl('get', 'nodes,pods,pvc,pv,volumeattachments', '-o', 'name');
    const scenario = file(
      'zone-lost.yaml',
      `script:
  - at 1m zone-a goes dark for 10m
  - at 2m scale statefulset/web to 4
expect:
  - always before 1m statefulset/web has 3 ready
  - at 50s there are 3 volumeattachments
  - at 5m statefulset/web has 2 ready
  - at 5m node/node-1 is NotReady
  - at the end statefulset/web has 4 ready
  - at the end node/node-3 field .spec.taints[0].key is gpu
  - never there are 0 pvc
for: 13m`,
    );
    const { code, stdout, stderr } = await simulate(scenario);
    expect(stdout).toMatch(/7 of 7 as expected \(seed 1\)\n$/);
    expect(code).toBe(0);
    expect(stderr).toContain('moor simulate: the copy is without deployments.apps: ');
    expect(stderr).not.toContain('secrets');
    // Running pods go on as they were: only the one in the failed zone is created again.
    expect(stdout.match(/pod\/web-[012] created/g)).toHaveLength(1);
    const uid = (await moor.kubectl('get', 'pvc', 'data-web-0', '-o', 'jsonpath={.metadata.uid}')).stdout;
    expect(stdout).toContain(`pvc-${uid}`);
    expect(await moor.kubectl('get', 'nodes,pods,pvc,pv,volumeattachments', '-o', 'name')).toEqual(before);
  });

  test('a required kind that may not be listed is an error', async () => {
    await moor.kubectl('config', 'set-context', 'anonymous', '--cluster=mooring');
    const empty = file('empty.yaml', 'for: 1s');
    const { code, stderr } = await runMoor('simulate', empty, '--from-cluster', '--kubeconfig', moor.kubeconfig, '--context', 'anonymous');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^moor simulate: /) as string });
  });

  test('nodes are those of the cluster, not of the file', async () => {
    const { code, stderr } = await simulate(file('nodes.yaml', 'cluster:\n  nodes: 3'));
    expect(code).toBe(2);
    expect(stderr).toContain('nodes.yaml:2:10: cluster.nodes: with --from-cluster, nodes and zones are those of that cluster');
  });
});
