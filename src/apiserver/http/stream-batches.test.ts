import { describe, expect, test } from 'vitest';
import { StreamBatches } from './stream-batches.ts';

function open() {
  const due: (() => void)[] = [];
  const begun: string[] = [];
  const batches = new StreamBatches<{ name: string }>({ soon: (callback) => void due.push(callback) });
  const connections = new Map(['a', 'b'].map((name) => [name, { name }]));
  return {
    begun,
    ask: (name: string, count: number): void => {
      for (let i = 1; i <= count; i += 1) batches.start(connections.get(name) ?? { name }, () => void begun.push(`${name}${i}`));
    },
    turn: (): void => {
      for (const callback of due.splice(0)) callback();
    },
    idle: (): boolean => due.length === 0,
  };
}

describe('requests that arrive on one connection at once', () => {
  test('begin at once while they are few', () => {
    const { ask, begun } = open();
    ask('a', 16);
    ask('b', 3);
    expect(begun).toHaveLength(19);
  });

  test('begin in batches, in their order, and others between them', () => {
    const { ask, begun, turn } = open();
    ask('a', 40);
    ask('b', 1);
    expect(begun).toEqual([...Array.from({ length: 16 }, (_, i) => `a${i + 1}`), 'b1']);
    turn();
    expect(begun.slice(17)).toEqual(Array.from({ length: 16 }, (_, i) => `a${i + 17}`));
    ask('b', 1);
    expect(begun.at(-1)).toBe('b1');
    turn();
    expect(begun.at(-1)).toBe('a40');
    expect(begun).toHaveLength(42);
  });

  test('leave nothing behind', () => {
    const { ask, turn, idle, begun } = open();
    ask('a', 20);
    for (let i = 0; i < 4; i += 1) turn();
    expect(idle()).toBe(true);
    ask('a', 16);
    expect(begun).toHaveLength(36);
  });
});
