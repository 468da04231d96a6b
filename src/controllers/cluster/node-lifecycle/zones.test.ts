import { describe, expect, test } from 'vitest';
import type { Node } from '../../../api/generated/types.ts';
import { Zones } from './zones.ts';

const node = (zone: string, ready: string, labels: Readonly<Record<string, string>> = {}): Node =>
  ({
    metadata: { labels: { 'topology.kubernetes.io/zone': zone, ...labels } },
    spec: {},
    status: { conditions: [{ type: 'Ready', status: ready }] },
  }) as unknown as Node;

/** Zones with a manual clock. */
function zonesUnderTest() {
  const heard: string[] = [];
  const clock = { ms: 1_000, now: () => clock.ms, monotonic: () => clock.ms };
  const zones = new Zones({ clock, enqueue: (name) => heard.push(name), onAllDown: (allDown) => heard.push(allDown ? 'all down' : 'not all down') });
  /** 'a1' is in zone a. */
  const fill = (zone: string, ready: number, unready: number) => {
    for (let i = 0; i < ready + unready; i++) zones.count(`${zone}${i}`, node(zone, i < ready ? 'True' : 'Unknown'));
    heard.length = 0;
  };
  return { zones, clock, heard, fill };
}

describe('evictions in a zone', () => {
  test('come ten seconds apart, in the order of the queue', () => {
    const { zones, clock, heard, fill } = zonesUnderTest();
    fill('a', 5, 3);
    expect(zones.slotOf('a6')).toEqual({ state: 'now' });
    expect(zones.slotOf('a5')).toEqual({ state: 'later' });
    expect(zones.slotOf('a7')).toEqual({ state: 'later' });
    zones.slotTaken('a6');
    expect(heard).toEqual(['a5']);
    expect(zones.slotOf('a5')).toEqual({ state: 'soon', inMs: 10_000 });
    clock.ms += 10_000;
    expect(zones.slotOf('a5')).toEqual({ state: 'now' });
    zones.dequeue('a5');
    expect(heard).toEqual(['a5', 'a7']);
    expect(zones.slotOf('a7')).toEqual({ state: 'now' });
  });

  test('do not wait for those of another zone', () => {
    const { zones, fill } = zonesUnderTest();
    fill('a', 1, 1);
    fill('b', 1, 1);
    expect(zones.slotOf('a1')).toEqual({ state: 'now' });
    zones.slotTaken('a1');
    expect(zones.slotOf('b1')).toEqual({ state: 'now' });
  });

  test.each([
    ['two of three are down: they go on', 1, 2, 'now'],
    ['three of six are down: they go on', 3, 3, 'now'],
    ['three of five are down: they stop', 2, 3, 'later'],
    ['55 of 100 are down: they go on, slowly', 45, 55, 'now'],
  ] as const)('%s', (_, ready, unready, state) => {
    const { zones, fill } = zonesUnderTest();
    fill('a', ready, unready);
    expect(zones.slotOf(`a${ready}`)).toEqual({ state });
  });

  test('are slower where most of a large zone is down', () => {
    const { zones, fill } = zonesUnderTest();
    fill('a', 45, 55);
    zones.slotOf('a50');
    zones.slotTaken('a50');
    expect(zones.slotOf('a51')).toEqual({ state: 'soon', inMs: 100_000 });
  });

  test('go on when enough nodes are back', () => {
    const { zones, heard, fill } = zonesUnderTest();
    fill('a', 2, 3);
    expect(zones.slotOf('a2')).toEqual({ state: 'later' });
    zones.count('a3', node('a', 'True'));
    expect(heard).toContain('a2');
    expect(zones.slotOf('a2')).toEqual({ state: 'now' });
  });

  test('go on while a whole zone is down, as long as another is not', () => {
    const { zones, fill } = zonesUnderTest();
    fill('a', 0, 4);
    fill('b', 1, 0);
    expect(zones.allDown).toBe(false);
    expect(zones.slotOf('a0')).toEqual({ state: 'now' });
  });
});

describe('if no node of any zone is ready', () => {
  test('there are no evictions, and all nodes are enqueued when that is over', () => {
    const { zones, heard, fill } = zonesUnderTest();
    fill('a', 1, 0);
    fill('b', 0, 1);
    zones.count('a0', node('a', 'False'));
    expect(heard).toContain('all down');
    expect(zones.slotOf('b0')).toEqual({ state: 'off' });
    heard.length = 0;
    zones.count('a0', node('a', 'True'));
    expect(heard).toContain('not all down');
    expect(zones.slotOf('b0')).toEqual({ state: 'now' });
  });

  test('nodes with the exclude-disruption label do not count', () => {
    const { zones, fill } = zonesUnderTest();
    const label = { 'node.kubernetes.io/exclude-disruption': '' };
    fill('a', 0, 1);
    zones.count('free', node('b', 'True', label));
    expect(zones.allDown).toBe(true);
    zones.count('a0', node('a', 'True'));
    zones.count('a1', node('a', 'Unknown', label));
    expect(zones.allDown).toBe(false);
  });

  test('an empty cluster is not down', () => {
    const { zones, fill } = zonesUnderTest();
    fill('a', 0, 1);
    zones.count('a0', undefined);
    expect(zones.allDown).toBe(false);
    expect([...zones.names()]).toEqual([]);
  });
});
