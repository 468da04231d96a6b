import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';

let moor: MoorProcess;
let folder: string;
beforeAll(async () => {
  moor = await startMoor();
  folder = await mkdtemp(path.join(tmpdir(), 'verbs-'));
});
afterAll(async () => {
  await moor[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function ok(...args: string[]): Promise<string> {
  const result = await moor.kubectl(...args);
  expect(result, `kubectl ${args.join(' ')}: ${result.stderr}`).toMatchObject({ code: 0 });
  return result.stdout;
}

describe('kubectl, verb by verb', () => {
  test('create: the kinds with their own subcommand', async () => {
    const made = [
      ['quota', 'small', '--hard=pods=100,services=10'],
      ['poddisruptionbudget', 'web', '--selector=app=web', '--min-available=1'],
      ['priorityclass', 'urgent', '--value=100'],
      ['serviceaccount', 'robot'],
      ['secret', 'generic', 'word', '--from-literal=a=b'],
      ['secret', 'docker-registry', 'pull', '--docker-username=u', '--docker-password=p'],
      ['service', 'nodeport', 'web', '--tcp=80:80'],
      ['service', 'externalname', 'away', '--external-name=example.com'],
      ['deployment', 'web', '--image=web', '--replicas=2'],
    ];
    for (const args of made) expect(await ok('create', ...args)).toMatch(/ created\n$/);
  });

  test('set: image, environment, resources, selector, account', async () => {
    const [image, env, resources] = [
      ['image', 'deployment/web', 'web=web:2'],
      ['env', 'deployment/web', 'A=b'],
      ['resources', 'deployment/web', '--limits=cpu=200m'],
    ];
    for (const args of [image, env, resources]) expect(await ok('set', ...(args ?? []))).toMatch(/ updated\n$/);
    await ok('set', 'selector', 'service', 'web', 'app=other');
    await ok('set', 'serviceaccount', 'deployment', 'web', 'robot');
    const { template } = (JSON.parse(await ok('get', 'deployment', 'web', '-o', 'json')) as { spec: { template: unknown } }).spec;
    const container = { image: 'web:2', env: [{ name: 'A', value: 'b' }], resources: { limits: { cpu: '200m' } } };
    expect(template).toMatchObject({ spec: { serviceAccountName: 'robot', containers: [container] } });
  });

  test('get --subresource', async () => {
    expect(await ok('get', 'deployment', 'web', '--subresource=scale')).toMatch(/^NAME\s+DESIRED\s+AVAILABLE\s+AGE\nweb\s+2\s+\d\s+\d+\S*s\n$/);
    expect(await ok('get', 'deployment', 'web', '--subresource=status', '--no-headers')).toMatch(/^web\s+\d\/2\s/);
  });

  test('kustomize: apply, diff, get and delete', async () => {
    await writeFile(path.join(folder, 'kustomization.yaml'), 'namePrefix: k-\nconfigMapGenerator:\n- name: made\n  literals: [a=b]\n');
    expect(await ok('apply', '-k', folder)).toMatch(/^configmap\/k-made-\w+ created\n$/);
    expect(await ok('diff', '-k', folder)).toBe('');
    expect(await ok('get', '-k', folder, '--no-headers')).toMatch(/^k-made-\w+\s+1\s/);
    expect(await ok('delete', '-k', folder)).toMatch(/^configmap "k-made-\w+" deleted/);
  });

  test('get --raw: paths that do not exist', async () => {
    expect(await moor.kubectl('get', '--raw', '/nowhere')).toMatchObject({
      code: 1,
      stderr: 'Error from server (NotFound): the server could not find the requested resource\n',
    });
  });

  test('cluster-info and cluster-info dump', async () => {
    expect(await ok('cluster-info')).toContain('Kubernetes control plane');
    expect(await ok('cluster-info', 'dump', `--output-directory=${path.join(folder, 'dump')}`)).toContain('Cluster info dumped to');
  });

  test('autoscale, in the API version of kubectl', async () => {
    expect(await ok('autoscale', 'deployment', 'web', '--max=3', '--cpu-percent=60')).toBe('horizontalpodautoscaler.autoscaling/web autoscaled\n');
    expect(await ok('get', 'hpa', '--no-headers')).toMatch(/^web\s+Deployment\/web\s+cpu: <unknown>\/60%\s+(1|<unset>)\s+3\s+0\s/);
    expect(await ok('get', 'all', '-o', 'name')).toContain('horizontalpodautoscaler.autoscaling/web');
  });

  test('create ingress, and IngressClasses', async () => {
    expect(await ok('create', 'ingress', 'web', '--class=nginx', '--rule=example.com/*=web:80')).toBe('ingress.networking.k8s.io/web created\n');
    expect(await ok('get', 'ingress', '--no-headers')).toMatch(/^web\s+nginx\s+example\.com\s+80\s/);
    expect(await ok('get', 'rc,netpol,ingressclass,runtimeclass', '-o', 'name')).toBe('');
  });

  test('apply --prune deletes objects that are no longer in the manifests', async () => {
    const map = (name: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}","labels":{"set":"pruned"}}}`;
    await moor.kubectlWith(map('keeps') + map('goes'), 'apply', '-f', '-');
    const { stdout } = await moor.kubectlWith(map('keeps'), 'apply', '--prune', '-l', 'set=pruned', '-f', '-');
    expect(stdout).toBe('configmap/keeps unchanged\nconfigmap/goes pruned\n');
  });

  test('the Service kubernetes has the API server as its endpoint', async () => {
    expect(await ok('get', 'endpointslice', 'kubernetes', '-o', 'jsonpath={.ports[0].name} {.endpoints[0].conditions.ready}')).toBe('https true');
  });

  /** v1.36.4: LogLocation answers with nothing, the others refuse (pkg/registry/core/pod/strategy.go). */
  test('a pod without a node has an empty log, and refuses exec', async () => {
    expect(await ok('run', 'one', '--image=tool')).toBe('pod/one created\n');
    await ok('patch', 'pod', 'one', '--subresource=status', '--type=merge', '-p', '{"status":{"phase":"Running"}}');
    expect(await ok('logs', 'one')).toBe('');
    for (const args of [
      ['exec', 'one', '--', 'ls'],
      ['attach', 'one'],
      ['port-forward', 'pod/one', '8080:80'],
    ]) {
      const { code, stderr } = await moor.kubectl(...args);
      expect(code).not.toBe(0);
      expect(stderr, args.join(' ')).toMatch(/pod one does not have a host assigned/);
    }
  });
});
