import { expect, test } from 'vitest';
import type { Node } from '../../../api/generated/types.ts';
import { addPeer, deviceCommands, networkIdentifier, tunnelDevice, tunnelPeers } from './peers.ts';

interface Described {
  readonly cidr?: string;
  readonly ip?: string;
  readonly created?: string;
  readonly runtime?: string;
}

const node = (name: string, { cidr, ip = '192.0.2.2', created = '2026-01-01T00:00:00Z', runtime = 'sandbox://1' }: Described): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, creationTimestamp: created },
  spec: cidr === undefined ? {} : { podCIDR: cidr },
  status: {
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
    addresses: [{ type: 'InternalIP', address: ip }],
    nodeInfo: { containerRuntimeVersion: runtime } as NonNullable<Node['status']['nodeInfo']>,
  },
});

const peersOf = (...nodes: readonly Node[]) =>
  tunnelPeers({
    nodes,
    ownCidrs: new Map([['own', '10.128.0.0/22']]),
    ownAddresses: new Set(['192.0.2.1', '10.128.0.1', '10.128.8.1']),
    reserved: ['10.96.0.0/12'],
    routes: ['10.0.0.0/8', '192.168.7.0/24', '10.128.8.0/22'],
  });
const far = { cidr: '10.128.4.0/22' };

test('nodes of other machines are peers: not those of this one, hollow ones, or ones without addresses', () => {
  const nodes = [
    node('far', far),
    node('own', { cidr: '10.128.0.0/22', ip: '192.0.2.1' }),
    node('beside', { cidr: '10.128.8.0/22', ip: '192.0.2.1' }),
    node('hollow', { cidr: '10.129.0.0/22', runtime: 'hollow://1' }),
    node('loopback', { cidr: '10.129.4.0/22', ip: '127.0.0.1' }),
    node('new', {}),
    node('six', { cidr: 'fd00::/64', ip: 'fd00::1' }),
  ];
  expect(peersOf(...nodes)).toEqual({ peers: [{ name: 'far', podCidr: '10.128.4.0/22', address: '192.0.2.2' }], refused: new Map() });
});

test.each([
  ['the addresses of an older node', '10.128.6.0/24', 'its pod CIDR 10.128.6.0/24 overlaps 10.128.4.0/22 of node far'],
  ['the addresses of this machine', '10.128.0.0/23', 'its pod CIDR 10.128.0.0/23 overlaps 10.128.0.0/22 of node own'],
  ['Services', '10.96.0.0/16', 'its pod CIDR 10.96.0.0/16 overlaps 10.96.0.0/12'],
  ['the network of the machines', '192.0.0.0/16', 'its pod CIDR 192.0.0.0/16 contains the address 192.0.2.3 of a machine'],
  ['addresses of the internet', '8.8.8.0/24', 'its pod CIDR 8.8.8.0/24 is not of a private network'],
  ['a part of the local network', '192.168.7.128/25', 'its pod CIDR 192.168.7.128/25 overlaps 192.168.7.0/24, to which this machine has a route'],
  ['everything', '0.0.0.0/0', 'its pod CIDR 0.0.0.0/0 is wider than /16'],
])('a node that claims %s gets no route', (_, cidr, why) => {
  const greedy = node('a-greedy', { cidr, ip: '192.0.2.3', created: '2026-01-02T00:00:00Z' });
  expect(peersOf(greedy, node('far', far))).toEqual({ peers: [expect.objectContaining({ name: 'far' })], refused: new Map([['a-greedy', why]]) });
});

test('the commands of the device and of a peer', () => {
  const identifier = networkIdentifier('uid', () => 'abcdef0123');
  expect([identifier, tunnelDevice(identifier)]).toEqual([0xab_cd_f0, 'moorvxabcdf0']);
  expect(deviceCommands({ identifier, address: '192.0.2.1', mtu: 1500, ownCidrs: ['10.128.0.0/22'] })).toEqual({
    add: 'link add moorvxabcdf0 type vxlan id 11259376 dstport 8473 local 192.0.2.1 nolearning\n',
    setUp: 'link set moorvxabcdf0 address 0a:58:c0:00:02:01 mtu 1450 up\naddr replace 10.128.0.1/32 dev moorvxabcdf0\n',
  });
  expect(addPeer('moorvxabcdf0', { name: 'far', podCidr: '10.128.4.0/22', address: '192.0.2.2' }, '10.128.0.1')).toEqual({
    ip: 'neigh replace 10.128.4.1 lladdr 0a:58:c0:00:02:02 dev moorvxabcdf0 nud permanent\nroute replace 10.128.4.0/22 via 10.128.4.1 dev moorvxabcdf0 onlink src 10.128.0.1\n',
    bridge: 'fdb replace 0a:58:c0:00:02:02 dev moorvxabcdf0 dst 192.0.2.2 self permanent\n',
  });
});
