/** The hashes were computed by Kubernetes' own code. */
import { expect, test } from 'vitest';
import { byGoHash, fnv128a, printPort, printSlicePort, printSubset } from './go-hash.ts';

test('ports of slices', () => {
  expect(fnv128a(printSlicePort({ name: 'dns', protocol: 'UDP', port: 53 }))).toBe('1caf216365b57b5d2659d4ba9f662580');
  expect(fnv128a(printSlicePort({ name: '', protocol: 'TCP', port: 80 }))).toBe('73b52e075e78e70787d5e6ffd2212eef');
});

test('ports of endpoints', () => {
  expect(fnv128a(printPort({ name: 'metrics', protocol: 'TCP', port: 9153, appProtocol: 'http' }))).toBe('4b1c8f97b92d78c166d23004fb6565cf');
  expect(fnv128a(printPort({ protocol: 'TCP', port: 80 }))).toBe('19cbad1834a78abad87a093580858485');
});

test('subsets', () => {
  const targetRef = { kind: 'Pod', namespace: 'default', name: 'web-0', uid: 'u-1' };
  const addresses = [{ ip: '10.0.0.1', hostname: 'web-0', nodeName: 'n1', targetRef }, { ip: '10.0.0.2' }];
  expect(fnv128a(printSubset({ addresses, ports: [{ name: 'a', port: 80, protocol: 'TCP' }] }))).toBe('cb029be4982cb20acd654ed0865635d0');
  expect(fnv128a(printSubset({ notReadyAddresses: [{ ip: '10.0.0.1' }] }))).toBe('4d4f4604c1a51c97597e6c7a75c104c9');
});

test('items are ordered by their hashes', () => {
  const ports = [
    { name: 'metrics', protocol: 'TCP', port: 9153 },
    { name: 'dns-tcp', protocol: 'TCP', port: 53 },
    { name: 'dns', protocol: 'UDP', port: 53 },
  ];
  expect(byGoHash(ports, printSlicePort).map(({ name }) => name)).toEqual(['dns', 'dns-tcp', 'metrics']);
  expect(byGoHash(ports, printPort).map(({ name }) => name)).toEqual(['metrics', 'dns-tcp', 'dns']);
});
