import { expect, test } from 'vitest';
import { simulate } from '../../sim/world/world.ts';
import { AttachmentVerification, type VerificationOptions } from './verification.ts';

const minuteMs = 60_000;

test('a driver is not asked again for what is attached before it has answered', () =>
  simulate(1, async (world) => {
    let asked = 0;
    let answer: () => void = () => undefined;
    const options = {
      world,
      drivers: { verifiable: () => ['csi.example.com'], onChange: () => () => undefined },
      view: { hasVolumes: () => true, revisions: () => new Map(), publishTargets: () => [] },
      published: () => {
        asked++;
        return new Promise((resolve) => {
          answer = () => resolve({ ok: true, value: [] });
        });
      },
    };
    const stop = new AttachmentVerification(options as unknown as VerificationOptions).subscribe(undefined as never, () => undefined);
    await world.sleep(5 * minuteMs);
    expect(asked).toBe(1);
    answer();
    await world.sleep(minuteMs + 1);
    expect(asked).toBe(2);
    stop();
  }));
