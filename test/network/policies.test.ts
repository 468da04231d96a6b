/** NetworkPolicies and host ports of real pods, by the kernel's tables. */
import { expect, test } from 'vitest';
import { startMoor } from '../moor-process.ts';
import { describeWithNftables } from './nftables.ts';

const pod = (name: string, command: readonly string[], over: { readonly ports?: object[]; readonly hostNetwork?: boolean } = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: {
    terminationGracePeriodSeconds: 0,
    hostNetwork: over.hostNetwork ?? false,
    hostAliases: [{ ip: '192.0.2.9', hostnames: ['nine.test'] }],
    containers: [{ name: 'c', image: 'python', command, ports: over.ports ?? [] }],
  },
});
const sleep = ['sleep', '1000'];
const policy = (name: string, spec: object) => ({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name }, spec });
const list = (...items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

describeWithNftables('the network of real pods', () => {
  test('policies isolate pods, and permit what their rules say; host ports lead to the pod', async () => {
    await using moor = await startMoor({ bare: false, args: ['--runtime', 'sandbox', '--store', 'memory', '--ephemeral'] });
    const apply = async (...items: readonly object[]) => expect(await moor.kubectlWith(list(...items), 'apply', '-f', '-')).toMatchObject({ code: 0 });
    // A free port of the host: one that no other test's cluster has.
    const hostPort = 20_000 + (process.pid % 10_000);
    const web = pod('web', ['python3', '-m', 'http.server', '8080', '-d', '/usr/share'], { ports: [{ name: 'http', containerPort: 8080, hostPort }] });
    await apply(web, pod('friend', sleep), pod('other', sleep), pod('outside', sleep, { hostNetwork: true }));
    expect(await moor.kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=60s')).toMatchObject({ code: 0 });
    const ip = (await moor.kubectl('get', 'pod', 'web', '-o', 'jsonpath={.status.podIP}')).stdout;
    const reaches = async (from: string, url = `http://${ip}:8080/`) =>
      (await moor.kubectl('exec', from, '--', 'curl', '-sSk', '-o', '/dev/null', '-m', '3', url)).code === 0;
    const who = async () => ({ friend: await reaches('friend'), other: await reaches('other') });
    const hostPortAnswers = () =>
      fetch(`http://127.0.0.1:${hostPort}/`, { headers: { connection: 'close' } }).then(
        ({ ok }) => ok,
        () => false,
      );

    await expect.poll(who).toEqual({ friend: true, other: true });
    await expect.poll(hostPortAnswers).toBe(true);
    const api = 'https://10.96.0.1/healthz';
    await expect.poll(() => reaches('friend', api)).toBe(true);
    await apply(policy('deny', { podSelector: {}, policyTypes: ['Ingress'] }));
    await expect.poll(who).toEqual({ friend: false, other: false });
    // The node reaches its pods: probes.
    expect(await fetch(`http://${ip}:8080/`).then(({ ok }) => ok)).toBe(true);
    await apply(
      policy('friends', {
        podSelector: { matchLabels: { app: 'web' } },
        ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }], ports: [{ port: 'http' }] }],
      }),
    );
    await expect.poll(who).toEqual({ friend: true, other: false });
    await apply(policy('silent', { podSelector: { matchLabels: { app: 'friend' } }, policyTypes: ['Egress'] }));
    await expect.poll(who).toEqual({ friend: false, other: false });
    expect(await reaches('friend', api)).toBe(false);
    await moor.kubectl('delete', 'networkpolicy', '--all');
    await expect.poll(who).toEqual({ friend: true, other: true });

    const hosts = async (of: string) => (await moor.kubectl('exec', of, '--', 'cat', '/etc/hosts')).stdout;
    expect(await hosts('web')).toMatch(
      new RegExp(`^# Kubernetes-managed hosts file\\.\n127.0.0.1\tlocalhost\n[^]*\n${ip}\tweb\n\n# Entries added by HostAliases\\.\n192.0.2.9\tnine.test\n$`),
    );
    expect(await hosts('outside')).toMatch(
      /^# Kubernetes-managed hosts file \(host network\)\.\n[^]*localhost[^]*\n# Entries added by HostAliases\.\n192.0.2.9\tnine.test\n$/,
    );
  });
});
