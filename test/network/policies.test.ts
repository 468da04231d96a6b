/** NetworkPolicies and host ports of real pods, by the kernel's tables. */
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

  test('a pod with rights over its network does not send from another pod’s address, nor to the host by IPv6; a policy of millions of rules holds up nothing', async () => {
    await using moor = await startMoor({ bare: false, args: ['--runtime', 'sandbox', '--store', 'memory', '--ephemeral'] });
    const apply = async (...items: readonly object[]) => expect(await moor.kubectlWith(list(...items), 'apply', '-f', '-')).toMatchObject({ code: 0 });
    const web = pod('web', ['python3', '-u', '-c', receive]);
    const friends = policy('friends', {
      podSelector: { matchLabels: { app: 'web' } },
      ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }] }],
    });
    await apply(friends, web, pod('friend', sleep), withNetworkRights(pod('hostile', sleep)));
    expect(await moor.kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=60s')).toMatchObject({ code: 0 });
    const ipOf = async (name: string) => (await moor.kubectl('get', 'pod', name, '-o', 'jsonpath={.status.podIP}')).stdout;
    const [to, friend, hostile] = [await ipOf('web'), await ipOf('friend'), await ipOf('hostile')];
    const sendsAs = async (from: string, source: string, text: string) =>
      expect(await moor.kubectl('exec', from, '--', 'python3', '-c', send, source, to, text)).toMatchObject({ code: 0 });
    const [, link = '', host = ''] = / dev (\S+) src (\S+)/.exec(execFileSync('ip', ['route', 'get', hostile], { encoding: 'utf8' })) ?? [];
    const mac = readFileSync(`/sys/class/net/${link}/address`, 'utf8').trim();
    // A machine with a looser setting for all links: the table alone is left.
    writeFileSync(`/proc/sys/net/ipv4/conf/${link}/rp_filter`, '0');
    await sendsAs('hostile', friend, 'forged');
    await sendsAs('hostile', hostile, 'isolated');
    await sendsAs('friend', friend, 'permitted');
    await expect.poll(async () => (await moor.kubectl('logs', 'web')).stdout, { timeout: 10_000 }).toBe(`permitted ${friend}\n`);

    const listener = createSocket('udp4').bind(0);
    const received: string[] = [];
    listener.on('message', (text) => void received.push(text.toString()));
    await new Promise((resolve) => listener.once('listening', resolve));
    const sendFrame = async (address: string) =>
      expect(await moor.kubectl('exec', 'hostile', '--', 'python3', '-c', frame, mac, hostile, address, String(listener.address().port))).toMatchObject({
        code: 0,
      });
    await sendFrame('127.0.0.1');
    await sendFrame(host);
    await expect.poll(() => received, { timeout: 10_000 }).toEqual([host]);
    listener.close();

    const server = createServer((_, response) => response.end('ok')).listen(0, '::');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://[${linkLocal(mac)}%25eth0]:${port}/`;
    const byIpv6 = async () => (await moor.kubectl('exec', 'hostile', '--', 'curl', '-gsS', '-m', '2', url)).stdout;
    expect(await byIpv6()).toBe('');
    // It is that setting which keeps it away.
    writeFileSync(`/proc/sys/net/ipv6/conf/${link}/disable_ipv6`, '0');
    await expect.poll(byIpv6, { timeout: 20_000 }).toBe('ok');
    server.close();

    const from = Array.from({ length: 3000 }, (_, i) => ({ ipBlock: { cidr: `10.${i >> 8}.${i & 255}.0/24` } }));
    const ports = Array.from({ length: 3000 }, (_, i) => ({ port: i + 1 }));
    await apply({ ...policy('friends', {}), spec: { podSelector: {}, ingress: [{ from, ports }] } });
    const started = performance.now();
    expect(await moor.kubectl('get', '--raw', '/readyz')).toMatchObject({ stdout: 'ok' });
    expect(performance.now() - started).toBeLessThan(20_000);
    await expect.poll(async () => (await moor.kubectl('get', 'events', '-o', 'jsonpath={.items[*].reason}')).stdout, { timeout: 20_000 }).toContain('TooLarge');
  });
});

/** Prints each datagram and its source. */
const receive = `import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 9999))
while True:
    text, source = s.recvfrom(100)
    print(text.decode(), source[0])`;

/** Sends a datagram from any address. */
const send = `import socket, struct, sys
source, to, text = sys.argv[1:]
udp = struct.pack("!HHHH", 5555, 9999, 8 + len(text), 0) + text.encode()
ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, socket.inet_aton(source), socket.inet_aton(to))
socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW).sendto(ip + udp, (to, 0))`;

/** Sends a datagram with its own address as the text to the host's end of the link, whatever that address is. */
const frame = `import socket, struct, sys
mac, source, to, port = sys.argv[1:]
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("eth0", 0))
udp = struct.pack("!HHHH", 5555, int(port), 8 + len(to), 0) + to.encode()
head = lambda sum: struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, sum, socket.inet_aton(source), socket.inet_aton(to))
words = sum(struct.unpack("!10H", head(0)))
words = (words & 0xffff) + (words >> 16)
ip = head(~(words + (words >> 16)) & 0xffff)
link.send(bytes.fromhex(mac.replace(":", "")) + link.getsockname()[4] + bytes([8, 0]) + ip + udp)`;

function withNetworkRights(of: ReturnType<typeof pod>) {
  const securityContext = { capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } };
  return { ...of, spec: { ...of.spec, containers: of.spec.containers.map((container) => ({ ...container, securityContext })) } };
}

/** The address that Linux gives a link by its MAC address (EUI-64). */
function linkLocal(mac: string): string {
  const bytes = mac.split(':').map((byte) => Number.parseInt(byte, 16));
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = bytes;
  return `fe80::${[((a ^ 2) << 8) | b, (c << 8) | 0xff, 0xfe00 | d, (e << 8) | f].map((word) => word.toString(16)).join(':')}`;
}
