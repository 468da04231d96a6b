import { expect, test } from 'vitest';
import { DeviceRing, freeDeviceName } from './device-names.ts';

test('the CSI driver takes the first free name of its list, up to /dev/xvddx', () => {
  const taken = new Set<string>();
  const given: string[] = [];
  for (let name = freeDeviceName(taken); name !== undefined; name = freeDeviceName(taken)) {
    taken.add(name);
    given.push(name);
  }
  expect([given[0], given[1], given[25], given[26], given.at(-1), given.length]).toEqual([
    '/dev/xvdaa',
    '/dev/xvdab',
    '/dev/xvdaz',
    '/dev/xvdba',
    '/dev/xvddx',
    102,
  ]);
  expect(freeDeviceName(new Set(['/dev/xvdaa']), new Set(['/dev/xvdab']))).toBe('/dev/xvdac');
});

test('the ring of the in-tree plugin does not give a name again until it came around', () => {
  const ring = new DeviceRing();
  expect([ring.next(new Set()), ring.next(new Set()), ring.next(new Set(['/dev/xvdbc']))]).toEqual(['/dev/xvdba', '/dev/xvdbb', '/dev/xvdbd']);
  const rest = Array.from({ length: 48 }, () => ring.next(new Set()));
  expect(rest.at(-1)).toBe('/dev/xvdcz');
  expect(ring.next(new Set())).toBe('/dev/xvdba');
});
