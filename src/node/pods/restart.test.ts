import { describe, expect, test } from 'vitest';
import type { Container } from '../../api/generated/types.ts';
import { type BackOff, goDuration, heldBackUntil, nextBackOff, shouldRestart } from './restart.ts';

describe('whether a container runs again', () => {
  const plain: Container = { name: 'app', resources: {} };
  const rules = (operator: string, ...values: number[]): Container => ({
    ...plain,
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'Restart', exitCodes: { operator, values } }],
  });

  test.each<[Container, string | undefined, number, boolean]>([
    [plain, undefined, 0, true],
    [plain, 'Always', 0, true],
    [plain, 'OnFailure', 0, false],
    [plain, 'OnFailure', 1, true],
    [plain, 'Never', 1, false],
    [{ ...plain, restartPolicy: 'Always' }, 'Never', 0, true],
    [{ ...plain, restartPolicy: 'OnFailure' }, 'Always', 0, false],
    [rules('In', 42), 'Always', 42, true],
    [rules('In', 42), 'Always', 1, false],
    [rules('NotIn', 42), 'Never', 1, true],
    [rules('NotIn', 42), 'Never', 42, false],
  ])('%j in a pod with %s after %i: %s', (container, restartPolicy, exitCode, expected) =>
    expect(shouldRestart(container, { containers: [], ...(restartPolicy === undefined ? {} : { restartPolicy }) }, exitCode)).toBe(expected),
  );
});

describe('a container that keeps ending', () => {
  test('is started again at once, then after ten seconds, then after twice as long each time, up to five minutes', () => {
    let backOff: BackOff | undefined;
    const waits: number[] = [];
    let now = 1_000_000;
    for (let i = 0; i < 9; i++) {
      const until = heldBackUntil(backOff, now, now);
      waits.push((until ?? now) - now);
      now = until ?? now;
      backOff = nextBackOff(backOff, now, now);
      now += 1000;
    }
    expect(waits.map((ms) => ms / 1000)).toEqual([0, 10, 20, 40, 80, 160, 300, 300, 300]);
  });

  test('begins anew once it ran for more than ten minutes', () => {
    const backOff: BackOff = { ms: 160_000, since: 0 };
    expect(heldBackUntil(backOff, 600_000, 600_000)).toBe(760_000);
    expect(heldBackUntil(backOff, 600_001, 600_001)).toBeUndefined();
    expect(nextBackOff(backOff, 600_001, 600_001)).toEqual({ ms: 10_000, since: 600_001 });
  });
});

test.each([
  [10_000, '10s'],
  [60_000, '1m0s'],
  [80_000, '1m20s'],
  [300_000, '5m0s'],
])('%i ms is %s', (ms, text) => expect(goDuration(ms)).toBe(text));
