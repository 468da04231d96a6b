import { describe, expect, test } from 'vitest';
import { Holdings } from './holdings.ts';

describe('a volume may be mounted', () => {
  const reported = () => {
    const holdings = new Holdings();
    holdings.settle('n', 'sent');
    return holdings;
  };

  test('once the agent has sent a status itself', () => {
    const holdings = new Holdings();
    expect(holdings.mayMount('n', 'v')).toBe(false);
    holdings.settle('n', 'refused');
    expect(holdings.mayMount('n', 'v')).toBe(false);
    holdings.settle('n', 'sent');
    expect(holdings.mayMount('n', 'v')).toBe(true);
    expect(holdings.mayMount('other', 'v')).toBe(false);
  });

  test.each(['sent', 'refused'] as const)('not while it is being withdrawn; again when that was %s', (outcome) => {
    const holdings = reported();
    holdings.withdraw('n', ['v']);
    expect([holdings.mayMount('n', 'v'), holdings.mayMount('n', 'w')]).toEqual([false, true]);
    holdings.settle('n', outcome);
    expect(holdings.mayMount('n', 'v')).toBe(true);
  });

  test('not as long as nobody knows what became of a withdrawal', () => {
    const holdings = reported();
    holdings.withdraw('n', ['v']);
    holdings.withdraw('n', ['w']);
    expect([holdings.mayMount('n', 'v'), holdings.mayMount('n', 'w')]).toEqual([false, false]);
  });
});

test('a pod holds what it holds until it gives it back or is gone', () => {
  const holdings = new Holdings();
  holdings.admit('n', 'a');
  holdings.occupy('n', 'a', { address: '1.1.1.1', attached: ['v', 'w'] });
  holdings.occupy('n', 'b', { address: undefined, attached: ['v'] });
  expect([...holdings.addresses('n')]).toEqual(['1.1.1.1']);
  expect([...holdings.mounted('n')]).toEqual(['v', 'w', 'v']);
  holdings.vacate('n', 'a');
  expect([[...holdings.addresses('n')], [...holdings.mounted('n')], holdings.isAdmitted('n', 'a')]).toEqual([[], ['v'], true]);
  holdings.forget('n', 'a');
  expect(holdings.isAdmitted('n', 'a')).toBe(false);
});

test('of very many images the first are forgotten', () => {
  const holdings = new Holdings();
  for (let i = 0; i < 1000; i++) holdings.addImage('n', `image-${i}`);
  expect([holdings.hasImage('n', 'image-0'), holdings.hasImage('n', 'image-999')]).toEqual([false, true]);
});
