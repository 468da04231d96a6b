import { describe, expect, test } from 'vitest';
import { NodeAllocations } from './allocations.ts';

describe('a volume may be mounted', () => {
  const reported = () => {
    const holdings = new NodeAllocations();
    holdings.confirmReported('n', 'sent');
    return holdings;
  };

  test('once the agent has sent a status itself', () => {
    const holdings = new NodeAllocations();
    expect(holdings.mayMount('n', 'v')).toBe(false);
    holdings.confirmReported('n', 'refused');
    expect(holdings.mayMount('n', 'v')).toBe(false);
    holdings.confirmReported('n', 'sent');
    expect(holdings.mayMount('n', 'v')).toBe(true);
    expect(holdings.mayMount('other', 'v')).toBe(false);
  });

  test.each(['sent', 'refused'] as const)('not while it is being withdrawn; again when that was %s', (outcome) => {
    const holdings = reported();
    holdings.withdrawInUse('n', ['v']);
    expect([holdings.mayMount('n', 'v'), holdings.mayMount('n', 'w')]).toEqual([false, true]);
    holdings.confirmReported('n', outcome);
    expect(holdings.mayMount('n', 'v')).toBe(true);
  });

  test('not as long as nobody knows what became of a withdrawal', () => {
    const holdings = reported();
    holdings.withdrawInUse('n', ['v']);
    holdings.withdrawInUse('n', ['w']);
    expect([holdings.mayMount('n', 'v'), holdings.mayMount('n', 'w')]).toEqual([false, false]);
  });
});

test('a pod holds what it holds until it gives it back or is gone', () => {
  const holdings = new NodeAllocations();
  holdings.admit('n', 'a');
  holdings.assign('n', 'a', { address: '1.1.1.1', attached: ['v', 'w'] });
  holdings.assign('n', 'b', { address: undefined, attached: ['v'] });
  expect([...holdings.addresses('n')]).toEqual(['1.1.1.1']);
  expect([...holdings.mountedVolumes('n')]).toEqual(['v', 'w', 'v']);
  holdings.release('n', 'a');
  expect([[...holdings.addresses('n')], [...holdings.mountedVolumes('n')], holdings.isAdmitted('n', 'a')]).toEqual([[], ['v'], true]);
  holdings.forget('n', 'a');
  expect(holdings.isAdmitted('n', 'a')).toBe(false);
});

test('of very many images the first are forgotten', () => {
  const holdings = new NodeAllocations();
  for (let i = 0; i < 1000; i++) holdings.addImage('n', `image-${i}`);
  expect([holdings.hasImage('n', 'image-0'), holdings.hasImage('n', 'image-999')]).toEqual([false, true]);
});
