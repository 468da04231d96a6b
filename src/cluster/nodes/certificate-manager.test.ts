import { X509Certificate } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { issueCertificate } from '../../apiserver/certificates/issue-certificates.ts';
import { simulate } from '../../sim/world/world.ts';
import { type KeyAndCertificate, startCertificateManager } from './certificate-manager.ts';

const hour = 3_600_000;

/** Each for ten hours, the next begins when an hour of this one is left. */
const series: KeyAndCertificate[] = [];
beforeAll(async () => {
  const start = await simulate(1, (world) => Promise.resolve(world.clock.now()));
  const authority = await issueCertificate({ type: 'authority', commonName: 'ca', notBefore: start - hour, notAfter: start + 1000 * hour });
  for (let i = 0; i < 4; i++) {
    const notBefore = start + i * 8 * hour;
    series.push(await issueCertificate({ type: 'client', name: 'n', groups: [], notBefore, notAfter: notBefore + 10 * hour, authority }));
  }
});

const beginning = ({ certificate }: KeyAndCertificate): number => Date.parse(new X509Certificate(certificate).validFrom);
const at = (i: number): KeyAndCertificate => {
  const found = series[i];
  if (found === undefined) throw new Error('there are not so many');
  return found;
};

test.each([1, 2, 3, 4, 5])('the next certificate is asked for between seven and nine tenths, at moments that differ (seed %d)', (seed) =>
  simulate(seed, async (world) => {
    const parts: number[] = [];
    let current = at(0);
    let next = 1;
    const cancel = startCertificateManager({
      world,
      whose: 'test',
      current,
      request: () => {
        parts.push((world.clock.now() - beginning(current)) / (10 * hour));
        return Promise.resolve(at(next++));
      },
      onRenewed: (fresh) => (current = fresh),
    });
    await world.sleep(30 * hour);
    cancel();
    // The certificates begin at 8, 16 and 24 hours; each is requested 7 to 9 hours after the one before.
    expect(parts).toHaveLength(3);
    for (const part of parts) expect(part).toSatisfy((value: number) => value >= 0.7 && value <= 0.9);
    expect(new Set(parts).size).toBe(3);
  }),
);

test('without a certificate it requests one at once, retries with growing delays, and stops', () =>
  simulate(1, async (world) => {
    const asked: number[] = [];
    const start = world.clock.now();
    const cancel = startCertificateManager({
      world,
      whose: 'test',
      current: undefined,
      request: () => {
        asked.push((world.clock.now() - start) / 60_000);
        return Promise.reject(new Error('not approved'));
      },
      onRenewed: () => expect.unreachable(),
    });
    await world.sleep(2 * hour);
    cancel();
    expect(asked.slice(0, 7)).toEqual([0, 1, 3, 7, 15, 31, 61]);
    const { length } = asked;
    await world.sleep(2 * hour);
    expect(asked).toHaveLength(length);
  }));
