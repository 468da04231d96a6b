/** The network between pods of nodes on several machines. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../moor-process.ts';
import { startMachines } from './machines.ts';
import { describeWithNftables } from './nftables.ts';

const pod = (name: string, nodeName: string, command: readonly string[]) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: { nodeName, terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'python', command, ports: [{ name: 'http', containerPort: 8080 }] }] },
});
/** Serves a file that takes many packets. */
const web = ['sh', '-c', 'head -c 3000000 /dev/zero > /tmp/large; exec python3 -m http.server 8080 -d /tmp'];
const sleep = ['sleep', '1000'];
const service = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
});
const policy = (name: string, spec: object) => ({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name }, spec });

describeWithNftables('nodes on several machines', () => {
  test('pods reach each other and Services by name; policies hold on both; nothing is left at the end', async () => {
    await using machines = await startMachines();
    const [first, second] = machines.all;
    if (first === undefined || second === undefined) throw new Error('there are two machines');
    const files = { kubeconfig: path.join(first.directory, 'kubeconfig'), bootstrap: path.join(first.directory, 'bootstrap') };
    const up = [
      'up',
      '--listen',
      `${first.address}:0`,
      '--runtime',
      'sandbox',
      '--store',
      'memory',
      '--ephemeral',
      '--data-dir',
      path.join(first.directory, 'data'),
    ];
    const stopUp = await first.moor([...up, '--kubeconfig', files.kubeconfig, '--bootstrap-kubeconfig', files.bootstrap], 'Mooring is ready');
    const nodeDirectory = path.join(second.directory, 'node');
    const node = ['node', '--kubeconfig', files.bootstrap, '--name', 'far', '--data-dir', nodeDirectory];
    const stopNode = await second.moor([...node, '--listen', `${second.address}:0`], 'Node far is ready');
    const kubectl = (...args: string[]) => first.run('kubectl', '--kubeconfig', files.kubeconfig, ...args);
    const apply = async (...items: readonly object[]) => {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      expect(await first.runWith(list, 'kubectl', '--kubeconfig', files.kubeconfig, 'apply', '-f', '-')).toMatchObject({ code: 0 });
    };
    await apply(
      pod('near', 'node-1', web),
      pod('far', 'far', web),
      pod('friend', 'node-1', sleep),
      pod('other', 'far', sleep),
      service('near'),
      service('far'),
    );
    expect(await kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=60s')).toMatchObject({ code: 0 });
    const reaches = async (from: string, url: string) => (await kubectl('exec', from, '--', 'curl', '-sSk', '-o', '/dev/null', '-m', '3', url)).code === 0;
    const addressOf = async (name: string) => (await kubectl('get', 'pod', name, '-o', 'jsonpath={.status.podIP}')).stdout;
    const [near, far] = [await addressOf('near'), await addressOf('far')];

    await expect.poll(() => reaches('friend', `http://${far}:8080/`)).toBe(true);
    await expect.poll(() => reaches('other', `http://${near}:8080/`)).toBe(true);
    // By name, through the DNS server and the table of the other machine.
    await expect.poll(() => reaches('other', 'http://near/')).toBe(true);
    await expect.poll(() => reaches('friend', 'http://far.default.svc.cluster.local/')).toBe(true);
    await expect.poll(() => reaches('other', 'https://kubernetes.default/healthz')).toBe(true);
    // A host reaches the pods of the other one.
    expect(await second.run('curl', '-sS', '-o', '/dev/null', '-m', '3', `http://${near}:8080/`)).toMatchObject({ code: 0 });
    // The whole file, in packets that are as large as the tunnel takes.
    expect(
      (await kubectl('exec', 'other', '--', 'curl', '-sS', '-m', '20', '-o', '/dev/null', '-w', '%{size_download}', `http://${near}:8080/dict/`)).code,
    ).toBe(0);

    // On the joined node, a policy that selects pods of the other machine.
    const selectsFar = { podSelector: { matchLabels: { app: 'far' } } };
    await apply(policy('closed', { ...selectsFar, policyTypes: ['Ingress'] }));
    await expect.poll(() => reaches('friend', `http://${far}:8080/`)).toBe(false);
    expect(await reaches('other', `http://${far}:8080/`)).toBe(false);
    await apply(policy('friends', { ...selectsFar, ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }], ports: [{ port: 'http' }] }] }));
    await expect.poll(() => reaches('friend', `http://${far}:8080/`)).toBe(true);
    expect(await reaches('other', `http://${far}:8080/`)).toBe(false);
    expect((await kubectl('get', 'events', '-o', 'jsonpath={.items[*].reason}')).stdout).not.toContain('NotEnforced');

    // A node reads addresses of pods, and no more of them.
    const as = ['--as', 'system:node:far', '--as-group', 'system:nodes'];
    const seen = await kubectl('get', 'podaddresses', '-o', 'json', ...as);
    expect(JSON.parse(seen.stdout)).toMatchObject({ items: expect.arrayContaining([expect.objectContaining({ status: { phase: 'Running', podIP: near } })]) });
    expect(seen.stdout).not.toMatch(/http\.server|"image"/);
    expect((await kubectl('get', 'pods', ...as)).stderr).toContain('Forbidden');

    const tunnels = async (machine: typeof first) => (await machine.run('ip', '-o', 'link')).stdout.match(/moor\w*/g) ?? [];
    expect(await tunnels(first)).not.toEqual([]);
    await stopNode();
    expect(
      (await second.run(process.execPath, path.join(root, 'dist/main/moor.js'), 'node', '--name', 'far', '--data-dir', nodeDirectory, '--down')).stderr,
    ).toBe('');
    expect(await tunnels(second)).toEqual([]);
    // Its routes go with the Node.
    const routes = async () => (await first.run('ip', 'route')).stdout;
    expect(await routes()).toContain('moorvx');
    await kubectl('delete', 'node', 'far');
    await expect.poll(routes).not.toContain('moorvx');
    await stopUp();
    expect(await tunnels(first)).toEqual([]);
  });
});
