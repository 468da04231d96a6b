/** Cordon, uncordon and drain: on nodes with a Lease, with pods under a PodDisruptionBudget. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';

let moor: MoorProcess;
beforeAll(async () => {
  moor = await startMoor();
  await createNode('n1');
  await createNode('n2');
  beating = setInterval(() => ['n1', 'n2'].forEach((name) => void beat(name)), 10_000);
});
afterAll(async () => {
  clearInterval(beating);
  await moor[Symbol.asyncDispose]();
});

/** Long, so that the nodes do not become NotReady on a slow machine. */
let beating: NodeJS.Timeout;
const beat = (name: string) =>
  moor.kubectl(
    'patch',
    'lease',
    name,
    '-n',
    'kube-node-lease',
    '--type=merge',
    '-p',
    `{"spec":{"renewTime":"${new Date().toISOString().replace('Z', '000Z')}"}}`,
  );

async function ok(...args: string[]): Promise<string> {
  const result = await moor.kubectl(...args);
  expect(result, `kubectl ${args.join(' ')}: ${result.stderr}`).toMatchObject({ code: 0 });
  return result.stdout;
}
async function create(manifest: string): Promise<void> {
  expect(await moor.kubectlWith(manifest, 'create', '-f', '-')).toMatchObject({ code: 0, stderr: '' });
}

/** A Node as its kubelet registers it, with its Lease. */
async function createNode(name: string): Promise<void> {
  const now = new Date().toISOString();
  await create(`apiVersion: v1
kind: Node
metadata: {name: ${name}}
status:
  allocatable: {cpu: "4", memory: 8Gi, pods: "10"}
  conditions: [{type: Ready, status: "True", reason: KubeletReady, message: ready, lastHeartbeatTime: "${now}", lastTransitionTime: "${now}"}]
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: ${name}, namespace: kube-node-lease}
spec: {holderIdentity: ${name}, leaseDurationSeconds: 40}
`);
}

const taintsOf = (node: string) => ok('get', 'node', node, '-o', 'jsonpath={.spec.taints[*].key}');

/** Writes the status that a kubelet would write, for each pod that does not run yet. */
async function runPods(): Promise<void> {
  const names = (await ok('get', 'pods', '-o', 'jsonpath={range .items[?(@.status.phase=="Pending")]}{.metadata.name}{" "}{.spec.nodeName}{"\\n"}{end}'))
    .split('\n')
    .filter((line) => line.trim().split(' ').length === 2)
    .map((line) => line.split(' ')[0] ?? '');
  const status = JSON.stringify({
    status: { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }], conditions: [{ type: 'Ready', status: 'True' }] },
  });
  // A pod may have been deleted meanwhile.
  for (const name of names) await moor.kubectl('patch', 'pod', name, '--subresource=status', '--type=strategic', '-p', status);
}

/** Until both pods of the set run. */
async function bothRun(): Promise<void> {
  const phases = async () => {
    await runPods();
    return ok('get', 'pods', '-o', 'jsonpath={.items[*].status.phase}');
  };
  await expect.poll(phases).toBe('Running Running');
}

/** The output of a running command until it contains the text. */
async function toldUntil(command: ReturnType<MoorProcess['spawnKubectl']>, sign: RegExp): Promise<string> {
  const ended = once(command, 'exit');
  let told = '';
  for (const stream of [command.stdout, command.stderr]) stream.on('data', (text: Buffer) => (told += text.toString()));
  await expect.poll(() => told).toMatch(sign);
  command.kill();
  await ended;
  return told;
}

const web = `apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: app, image: app}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  minAvailable: 2
  selector: {matchLabels: {app: web}}
`;

describe('kubectl', () => {
  test('cordon and uncordon: the node is unschedulable and tainted meanwhile', async () => {
    expect(await ok('cordon', 'n1')).toBe('node/n1 cordoned\n');
    expect(await ok('cordon', 'n1')).toBe('node/n1 already cordoned\n');
    expect(await ok('get', 'node', 'n1')).toMatch(/n1\s+Ready,SchedulingDisabled/);
    await expect.poll(() => taintsOf('n1')).toBe('node.kubernetes.io/unschedulable');
    expect(await ok('uncordon', 'n1')).toBe('node/n1 uncordoned\n');
    await expect.poll(() => taintsOf('n1')).toBe('');
    expect(await ok('get', 'node', 'n1')).toMatch(/n1\s+Ready\s/);
  });

  test('drain: a PodDisruptionBudget lets the pods be evicted one after the other', async () => {
    await ok('cordon', 'n2');
    await create(web);
    await bothRun();
    await ok('uncordon', 'n2');
    await expect.poll(() => ok('get', 'pdb', 'web')).toMatch(/NAME\s+MIN AVAILABLE\s+MAX UNAVAILABLE\s+ALLOWED DISRUPTIONS\s+AGE\nweb\s+2\s+N\/A\s+0/);

    const refused = await toldUntil(moor.spawnKubectl('drain', 'n1'), /will retry after/);
    expect(refused).toContain('node/n1 cordoned');
    expect(refused).toMatch(
      /error when evicting pods\/"web-\w+" -n "default" \(will retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget\./,
    );

    await ok('patch', 'pdb', 'web', '--type=merge', '-p', '{"spec":{"minAvailable":1}}');
    const drained = moor.kubectl('drain', 'n1', '--timeout=100s');
    const isOver = drained.then(() => true);
    // Their replacements run on the other node; otherwise the second pod could never be evicted.
    while (!(await Promise.race([isOver, runPods().then(() => false)])));
    const { code, stdout } = await drained;
    expect(code).toBe(0);
    expect(stdout.match(/pod\/web-\w+ evicted/g)).toHaveLength(2);
    expect(stdout).toContain('node/n1 drained');
    // The drain ends with the second pod: its replacement may not run yet.
    await bothRun();
    expect(await ok('get', 'pods', '-o', 'jsonpath={.items[*].spec.nodeName}')).toBe('n2 n2');
  });

  test('get endpoints: a deprecation warning, and the right answer', async () => {
    await ok('expose', 'rs', 'web', '--port=80', '--target-port=8080');
    await expect
      .poll(() => moor.kubectl('get', 'endpoints', 'web'))
      .toMatchObject({
        stdout: expect.stringContaining('10.0.0.1:8080,10.0.0.1:8080'),
        stderr: 'Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n',
      });
    const slices = () => ok('get', 'endpointslices', '-l', 'kubernetes.io/service-name=web');
    await expect.poll(slices).toMatch(/web-\w{5}\s+IPv4\s+8080\s+10\.0\.0\.1,10\.0\.0\.1/);
  });
});
