import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { realDisk } from '../../src/host/disk.ts';
import { Prng } from '../../src/sim/world/prng.ts';
import type { Entry, Store } from '../../src/store/contract.ts';
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts';

/**
 * A real process that writes with many writers is killed again and again, at any moment, also while it recovers from the
 * kill before. What it acknowledged is there, nothing is torn, and what a transaction wrote is there whole or not at all.
 */
const DIRECTORIES = 4;
const KILLS = 52;
const writers = fileURLToPath(new URL('writers.mjs', import.meta.url));

test(`no acknowledged write is lost in ${DIRECTORIES * KILLS} kills`, async () => {
  const results = await Promise.all(Array.from({ length: DIRECTORIES }, (_, i) => killAgainAndAgain(new Prng(i + 1))));
  // The test means something only if the killed processes got to write, and some were killed while opening.
  expect(results.reduce((sum, { acknowledged }) => sum + acknowledged, 0)).toBeGreaterThan(DIRECTORIES * KILLS * 10);
  expect(results.reduce((sum, { killedOpening }) => sum + killedOpening, 0)).toBeGreaterThan(0);
});

interface Acknowledged {
  /** The newest number that each writer was told is durable. */
  readonly numbers: Map<number, number>;
  revision: number;
  count: number;
}

async function killAgainAndAgain(random: Prng): Promise<{ acknowledged: number; killedOpening: number }> {
  const directory = await mkdtemp(join(tmpdir(), 'moor-kill-'));
  const acknowledged: Acknowledged = { numbers: new Map(), revision: 1, count: 0 };
  let killedOpening = 0;
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      if (!(await runAndKill(directory, random, acknowledged))) killedOpening++;
      await check(directory, acknowledged);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
  return { acknowledged: acknowledged.count, killedOpening };
}

/** Whether the process had opened its store by the time it was killed. */
async function runAndKill(directory: string, random: Prng, acknowledged: Acknowledged): Promise<boolean> {
  const child = spawn(process.execPath, [writers, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)));
  let acksToLive = random.below(random.chance(0.7) ? 40 : 500);
  let opened = false;
  // Now and then it is killed by the clock, wherever it is.
  const clock = random.chance(0.2) ? setTimeout(() => child.kill('SIGKILL'), 40 + random.below(60)) : undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const [, writer, number, revision] = /^ack (\d+) (\d+) (\d+)$/.exec(line) ?? [];
    opened ||= line === 'open';
    if (writer === undefined) continue;
    acknowledged.numbers.set(Number(writer), Number(number));
    acknowledged.revision = Math.max(acknowledged.revision, Number(revision));
    acknowledged.count++;
    if (acksToLive-- <= 0) child.kill('SIGKILL');
  }
  clearTimeout(clock);
  expect(await exited).toBe('SIGKILL');
  return opened;
}

async function check(directory: string, { numbers, revision }: Acknowledged): Promise<void> {
  const store = await openEmbeddedStore({ directory, disk: realDisk, segmentBytes: 64 << 10, rewriteBytes: 64 << 10 });
  expect(store.revision()).toBeGreaterThanOrEqual(revision);
  for (const [writer, number] of numbers) {
    const [first, second] = [await store.get(`/writers/${writer}/first`), await store.get(`/writers/${writer}/second`)];
    const found = Number.parseInt(text(first), 10);
    // The last one may have become durable without its acknowledgement being heard.
    expect([number, number + 1]).toContain(found);
    expect(text(first)).toBe(`${found}:${String(found).repeat((found * 37) % 400)}`);
    expect(text(second)).toBe(text(first));
    expect(first?.modRevision).toBe(second?.modRevision);
    const { entries } = await store.range({ from: `/log/${writer}/`, to: `/log/${writer}0` });
    const expected = Array.from({ length: Math.min(5, found) }, (_, i) => `${found - i}`);
    expect(entries.map(text).sort()).toEqual(expected.sort());
    numbers.set(writer, found);
  }
  checkHistory(store);
  await store.close();
}

/** Every revision after the compacted one is told, whole and in order. */
function checkHistory(store: Store): void {
  let told = store.compactedRevision();
  store.watch(
    { prefix: '/writers/', after: told },
    {
      changes(revision, changes) {
        expect(revision).toBe(Math.max(told, 1) + 1);
        expect(changes.map(({ type }) => type)).toEqual(['put', 'put']);
        told = revision;
      },
      end: () => {},
    },
  );
  expect(Math.max(told, 1)).toBe(store.revision());
}

const text = (entry: Entry | undefined): string => new TextDecoder().decode(entry?.value);
