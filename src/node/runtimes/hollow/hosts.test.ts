import { expect, test } from 'vitest';
import { hollowHosts, type HollowSettings, maxNodes } from './hosts.ts';

const settings: HollowSettings = { count: 4, zones: ['a', 'b', 'c'], region: 'here', capacity: { cpu: '8' }, volumeLimit: undefined, drivers: ['driver'] };
const machine = { architecture: 'arm64', kernelVersion: '6', osImage: 'os', containerRuntimeVersion: 'hollow://1', kubeletVersion: 'v1' };
const sha256 = (text: string) => `${text.length}`.repeat(64);
const hosts = (changes: Partial<HollowSettings> = {}) => [...hollowHosts({ ...settings, ...changes }, machine, sha256).values()];

test('nodes are dealt out to the zones in turn', () =>
  expect(hosts().map(({ name, labels }) => `${name} ${labels['topology.kubernetes.io/zone']}`)).toEqual(['node-1 a', 'node-2 b', 'node-3 c', 'node-4 a']));

test('each has addresses of its own, also the last of the most that there can be', () => {
  const all = hosts({ count: maxNodes });
  expect(new Set(all.map(({ ip }) => ip)).size).toBe(maxNodes);
  expect(new Set(all.map(({ podCidr }) => podCidr)).size).toBe(maxNodes);
  expect(all.at(-1)?.podCidr).toBe('10.255.252.0/22');
  expect(all.at(-1)?.ip).toBe('172.18.32.1');
});

test('more nodes change nothing for those that there were', () => expect(hosts({ count: 9 }).slice(0, 4)).toEqual(hosts()));

test('drivers know zones and limits only where there are any', () => {
  const driver = (changes: Partial<HollowSettings>) => hosts(changes)[0]?.drivers[0];
  expect(driver({})).toEqual({ name: 'driver', nodeID: 'node-1', topologyKeys: ['topology.kubernetes.io/zone'] });
  expect(driver({ zones: [], volumeLimit: 0 })).toEqual({ name: 'driver', nodeID: 'node-1', topologyKeys: null, allocatable: { count: 0 } });
  expect(hosts({ zones: [] })[0]?.labels).not.toHaveProperty('topology.kubernetes.io/region');
});

test('the identifiers of its machine look like such', () => {
  const [host] = hosts();
  expect(host?.system.machineID).toMatch(/^[0-9a-f]{32}$/);
  expect(host?.system.systemUUID).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});
