/** Rounds of pods, claims, snapshots and restored claims, while processes are killed at random moments. */
import { expect } from 'vitest';
import { Prng } from '../../src/sim/world/prng.ts';
import type { HostPathDriver } from './host-path.ts';
import { claim, ofClaim, ofSnapshot, pod, snapshot } from './host-path-objects.ts';
import { mountsBelow, type PeerCluster } from './peer-cluster.ts';

/** `KILLS=100 npm run test:peers -- kill`; with the SEED of a failed run, the same victims and moments. */
export const kills = Number(process.env['KILLS'] ?? 4);
export const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
export const killTimeoutMs = 120_000 + kills * 120_000;
/** About as long as a pod needs to start. */
const longestMs = 3000;

export interface Killed {
  readonly cluster: PeerCluster;
  readonly driver: HostPathDriver;
  /** `kill -9`, and a new start. */
  readonly victims: readonly (() => Promise<void>)[];
}

/**
 * In each round a pod writes to a new claim, and finds what the round before wrote in its claim, and in a claim that is restored from its snapshot.
 * At the end nothing is left: no volume, no snapshot, no mount. Class and snapshot class are called `fast`.
 */
export async function killRounds({ cluster, driver, victims }: Killed): Promise<void> {
  const random = new Prng(seed);
  const { kubectl } = cluster;
  const kill = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, random.float() * longestMs));
    await victims[random.below(victims.length)]?.();
  };
  const ready = (name: string) => kubectl('wait', '--for=jsonpath={.status.readyToUse}=true', `volumesnapshot/${name}`, '--timeout=240s');

  for (let round = 0; round * 2 < kills; round += 1) {
    const [name, before, restored] = [`round-${round}`, `round-${round - 1}`, `restored-${round}`];
    const earlier = round === 0 ? {} : { before: ofClaim(before), restored: ofClaim(restored) };
    const check = round === 0 ? 'true' : `grep -qx ${before} /v/before/file; grep -qx ${before} /v/restored/file`;
    if (round > 0) await cluster.apply(claim(restored, 'fast', ofSnapshot(before)));
    await cluster.apply(claim(name, 'fast'), pod(name, `${check}; echo ${name} > /v/now/file; sync /v/now/file`, { now: ofClaim(name), ...earlier }));
    await kill();
    await kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', `pod/${name}`, '--timeout=240s');
    await cluster.apply(snapshot(name, 'fast', name));
    await kubectl('delete', 'pod', name, '--wait=false');
    await kill();
    await kubectl('wait', '--for=delete', `pod/${name}`, '--timeout=240s');
    await ready(name);
    if (round > 0) await kubectl('delete', `volumesnapshot/${before}`, `pvc/${before}`, `pvc/${restored}`, '--wait=false');
  }
  await kubectl('delete', 'volumesnapshots', '--all', '--timeout=240s');
  await kubectl('delete', 'pvc', '--all', '--timeout=240s');
  for (const kind of ['pv', 'volumesnapshotcontents']) await expect.poll(() => kubectl('get', kind, '-o', 'name'), { timeout: 240_000 }).toBe('');
  await expect.poll(() => driver.known()).toEqual([]);
  expect(mountsBelow(driver.directory)).toEqual([]);
  await expect.poll(() => mountsBelow('kubernetes.io~csi').filter((line) => line.includes(cluster.dataDir))).toEqual([]);
}
