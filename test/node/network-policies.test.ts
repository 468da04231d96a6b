/** A pod's NetworkPolicies are in the kernel before its containers run. */
import { expect, test } from 'vitest';
import type { Pod } from '../../src/api/generated/types.ts';
import { networkPolicyKind } from '../../src/api/kinds/networking/network-policy.ts';
import { serviceAccountKind } from '../../src/api/kinds/core/service-account.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { NftablesTable } from '../../src/node/network/nftables/table.ts';
import { NetworkPolicies } from '../../src/node/network-policy/network-policies.ts';
import { simulate, type SimulatedWorld } from '../../src/sim/world/world.ts';
import { startTestCluster } from '../client/test-cluster.ts';

const pod = { metadata: { namespace: 'default', name: 'web' }, spec: { nodeName: 'a', containers: [{ name: 'c', image: 'i' }] }, status: {} };
const deny = { metadata: { namespace: 'default', name: 'deny' }, spec: { podSelector: {}, policyTypes: ['Ingress'] } };
const address = '10.0.0.7';

interface Kernel {
  readonly sent: string[];
  refuses: (commands: string) => boolean;
}

/** A kernel that takes a second for each transaction. */
async function startPolicies(world: SimulatedWorld) {
  const { client, transport } = await startTestCluster(world);
  const kernel: Kernel = { sent: [], refuses: () => false };
  const nft = async (commands: string): Promise<string> => {
    await world.sleep(1000);
    if (kernel.refuses(commands)) return 'no memory';
    kernel.sent.push(commands);
    return '';
  };
  const network = { nft, ip: async () => '', bridge: async () => '', conntrack: async () => '', sysctl: async () => undefined, setSysctl: async () => '' };
  const informers = new Informers({ world, client: createClient({ transport }) });
  const table: NftablesTable = new NftablesTable({
    world,
    network,
    name: 'ip t',
    base: '',
    hold: 'hold',
    onRefused: (owner) => void refused.push(...policies.refused(owner).map(({ metadata }) => metadata.name)),
  });
  const refused: (string | undefined)[] = [];
  await table.open();
  const policies: NetworkPolicies<Pod> = new NetworkPolicies({
    world,
    informers,
    pods: informers.cache(podKind),
    nodes: new Set(['a']),
    table,
    onTooLarge: () => undefined,
    sha256: (text) => text,
  });
  return { client, informers, kernel, policies, refused };
}

async function createPod(client: Client): Promise<Pod> {
  await client.create(serviceAccountKind, { metadata: { namespace: 'default', name: 'default' } });
  const made = await client.create(podKind, pod);
  if (!made.ok) throw made.error;
  return made.value;
}

const hasChain = (sent: readonly string[]): boolean => sent.some((commands) => commands.includes(`add element ip t ingress-policies { ${address} : jump`));

test('a pod waits for its policies, although its status does not name its address yet', () =>
  simulate(1, async (world) => {
    const { client, informers, kernel, policies } = await startPolicies(world);
    await client.create(networkPolicyKind, deny);
    const created = await createPod(client);
    informers.start();
    expect(await policies.admit(created, address)).toBeUndefined();
    expect(hasChain(kernel.sent)).toBe(true);
    policies.stop();
    informers.stop();
  }));

test('without policies a pod waits for nothing; one that nothing is known of is not admitted', () =>
  simulate(1, async (world) => {
    const { client, informers, policies } = await startPolicies(world);
    const created = await createPod(client);
    informers.start();
    await informers.synced();
    const before = world.clock.monotonic();
    expect(await policies.admit(created, address)).toBeUndefined();
    expect(world.clock.monotonic() - before).toBeLessThan(1000);
    const other = { ...created, metadata: { ...created.metadata, uid: 'other' } };
    expect(await policies.admit(other, address)).toBe('the NetworkPolicies of the pod are not in the kernel yet');
    policies.stop();
    informers.stop();
  }));

test('while the kernel refuses the policies of a namespace, their pods are isolated, and the policies say so', () =>
  simulate(1, async (world) => {
    const { client, informers, kernel, policies, refused } = await startPolicies(world);
    kernel.refuses = (commands) => commands.includes('192.0.2.0/24');
    await client.create(networkPolicyKind, { ...deny, spec: { ...deny.spec, ingress: [{ from: [{ ipBlock: { cidr: '192.0.2.0/24' } }] }] } });
    const created = await createPod(client);
    informers.start();
    expect(await policies.admit(created, address)).toBeUndefined();
    expect([refused, hasChain(kernel.sent)]).toEqual([['deny'], true]);
    expect(kernel.sent.join('').match(/add rule ip t ingress-\S+ .*/g)).toEqual([expect.stringMatching(/ drop$/)]);
    // Not even that: the pod does not start.
    kernel.refuses = (commands) => commands.includes('ingress-');
    await client.create(networkPolicyKind, { ...deny, metadata: { ...deny.metadata, name: 'more' } });
    expect(await policies.admit({ ...created }, '10.0.0.8')).toBe('the NetworkPolicies of the pod are not in the kernel yet');
    policies.stop();
    informers.stop();
  }));

test('connections are held until the first policies are in the kernel', () =>
  simulate(1, async (world) => {
    const { client, informers, kernel, policies } = await startPolicies(world);
    await client.create(networkPolicyKind, deny);
    await createPod(client);
    informers.start();
    await world.sleep(30_000);
    const released = kernel.sent.findIndex((commands) => commands.includes('flush chain ip t hold'));
    expect(kernel.sent[0]).toContain('add rule ip t hold drop');
    expect(released).toBeGreaterThan(0);
    policies.stop();
    informers.stop();
  }));
