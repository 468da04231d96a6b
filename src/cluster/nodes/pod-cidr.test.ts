import { expect, test } from 'vitest';
import { parseRoutes } from './pod-cidr.ts';

test("the machine's routes, without the default route and malformed lines", () => {
  const text = [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
    'eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    'eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    'moor-1a2b3c4d\t0004800A\t00000000\t0001\t0\t0\t0\t00FCFFFF\t0\t0\t0',
    'broken\tXX',
    '',
  ].join('\n');
  expect(parseRoutes(text)).toEqual([
    { via: 'eth0', cidr: '192.0.2.0/24' },
    { via: 'moor-1a2b3c4d', cidr: '10.128.4.0/22' },
  ]);
  expect(parseRoutes('')).toEqual([]);
});
