import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { simulate, type SimulatedWorld } from '../../sim/world/world.ts';
import { HandshakeLimiter } from './handshake-limiter.ts';
import { defaultLimits } from '../limits.ts';
import { Metrics } from '../metrics/metrics.ts';
import { RequestMetrics } from '../metrics/request-metrics.ts';

class FakeSocket extends EventEmitter {
  destroyed = false;
  readonly remoteAddress: string;
  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function open(world: SimulatedWorld) {
  const metrics = new RequestMetrics(new Metrics(), new Set());
  const door = new HandshakeLimiter({ limits: defaultLimits, world, metrics });
  const entered: string[] = [];
  const knock = (address: string, label: string): FakeSocket => {
    const socket = new FakeSocket(address);
    door.accept(socket as unknown as Socket, () => void entered.push(label));
    return socket;
  };
  return { entered, knock };
}

describe('at the door', () => {
  test('a single connection does not wait', () =>
    simulate(1, async (world) => {
      const { entered, knock } = open(world);
      for (const label of ['a', 'b']) {
        knock('10.0.0.1', label);
        expect(entered.at(-1)).toBe(label);
        await world.sleep(1);
      }
    }));

  test('of many who come at once one enters in a turn, and addresses take turns', () =>
    simulate(2, async (world) => {
      const { entered, knock } = open(world);
      for (let i = 1; i <= 100; i += 1) knock('10.0.0.1', `a${i}`);
      knock('10.0.0.2', 'b1');
      expect(entered).toEqual(['a1']);
      await world.sleep(1_000);
      expect(entered).toHaveLength(101);
      expect(entered.indexOf('b1')).toBeLessThanOrEqual(2);
      expect(entered.filter((label) => label !== 'b1')).toEqual(Array.from({ length: 100 }, (_, i) => `a${i + 1}`));
    }));

  test('a connection that closes while it waits is dropped', () =>
    simulate(3, async (world) => {
      const { entered, knock } = open(world);
      const [, second, third] = ['a1', 'a2', 'a3', 'a4'].map((label) => knock('10.0.0.1', label));
      second?.destroy();
      third?.emit('error', new Error('ECONNRESET'));
      third?.destroy();
      await world.sleep(1_000);
      expect(entered).toEqual(['a1', 'a4']);
    }));
});
