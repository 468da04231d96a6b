import { describe, expect, test } from 'vitest';
import { VolumesInUse } from './volumes-in-use.ts';

describe('a volume may be mounted', () => {
  const reported = () => {
    const inUse = new VolumesInUse();
    inUse.confirmReported('n', 'sent');
    return inUse;
  };

  test('once the agent has sent a status itself', () => {
    const inUse = new VolumesInUse();
    expect(inUse.mayMount('n', 'v')).toBe(false);
    inUse.confirmReported('n', 'refused');
    expect(inUse.mayMount('n', 'v')).toBe(false);
    inUse.confirmReported('n', 'sent');
    expect(inUse.mayMount('n', 'v')).toBe(true);
    expect(inUse.mayMount('other', 'v')).toBe(false);
  });

  test.each(['sent', 'refused'] as const)('not while it is being withdrawn; again when the status was %s', (outcome) => {
    const inUse = reported();
    inUse.withdraw('n', ['v']);
    expect([inUse.mayMount('n', 'v'), inUse.mayMount('n', 'w')]).toEqual([false, true]);
    inUse.confirmReported('n', outcome);
    expect(inUse.mayMount('n', 'v')).toBe(true);
  });

  test('not while the outcome of a withdrawal is unknown', () => {
    const inUse = reported();
    inUse.withdraw('n', ['v']);
    inUse.withdraw('n', ['w']);
    expect([inUse.mayMount('n', 'v'), inUse.mayMount('n', 'w')]).toEqual([false, false]);
  });
});
