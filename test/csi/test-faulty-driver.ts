import { mkdtempSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { allCases } from '../../src/csi-test/cases.ts';
import { Driver } from '../../src/csi-test/driver.ts';
import type { TestOptions } from '../../src/csi-test/options.ts';
import type { Report } from '../../src/csi-test/report/result.ts';
import { runTests } from '../../src/csi-test/run.ts';
import type { TestCase } from '../../src/csi-test/test-case.ts';
import { realHostFiles } from '../../src/host/files.ts';
import { imagesWithDevice } from '../../src/host/loop-devices.ts';
import { readMounts } from '../../src/host/mounts.ts';
import { realProcesses } from '../../src/host/processes.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { Prng } from '../../src/sim/world/prng.ts';
import type { Fault } from './faulty-driver/faults.ts';

export interface FaultyDriver extends Disposable {
  /** Runs the chosen cases against the driver with these faults. */
  test(chosen: { readonly faults: readonly Fault[]; readonly cases: readonly TestCase[] }): Promise<Report>;
}

/** Builds the driver. `mounts`: real bind mounts, which need root. */
export async function buildFaultyDriver({ mounts }: { mounts: boolean }): Promise<FaultyDriver> {
  // Packages are found from here.
  const program = path.join(process.cwd(), 'node_modules', `.moor-faulty-driver-${process.pid}.mjs`);
  const bundle = await rolldown({ input: 'test/csi/faulty-driver/main.ts', platform: 'node', external: /^[^./]/ });
  await bundle.write({ file: program });
  return {
    test: async ({ faults, cases }) => {
      const workDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-csi-')));
      for (const name of ['data', 'n0']) mkdirSync(path.join(workDir, name));
      const world = createRealWorld({ logLevel: 'silent' });
      const endpoint = `unix://${workDir}/csi.sock`;
      const data = path.join(workDir, 'data');
      const command = [process.execPath, program, endpoint, data, mounts ? 'mounts' : 'folders', ...faults];
      const options = testOptions(workDir);
      const driver = new Driver({ endpoint, command, processes: realProcesses, ...world, timeoutMs: options.timeoutMs });
      const machine = { mounts: { table: readMounts }, files: realHostFiles, processes: realProcesses, imagesWithDevice };
      try {
        return await runTests({ drivers: [driver], cases, options, machine, world, randomOf: (seed) => new Prng(seed), onResult: () => undefined });
      } finally {
        await driver.close();
        await removeTree(workDir);
      }
    },
    [Symbol.dispose]: () => rmSync(program, { force: true }),
  };
}

const testOptions = (workDir: string): TestOptions => ({
  volumeSize: 1n << 20n,
  accessType: 'mount',
  parameters: {},
  mutableParameters: {},
  secrets: { CreateVolumeSecret: { password: 'a' } },
  timeoutMs: 3000,
  seed: 1,
  workDir,
  watched: [path.join(workDir, 'data')],
  volumes: 6,
  pods: 3,
  sequences: 3,
});

/** Cases by their ids. */
export function casesOf(ids: readonly string[]): readonly TestCase[] {
  return ids.map((id) => {
    const found = allCases({ sequences: 3 }).find((each) => each.id === id);
    if (found === undefined) throw new Error(`there is no case ${id}`);
    return found;
  });
}

/** Also what a faulty driver left mounted. */
async function removeTree(directory: string): Promise<void> {
  const left = (await readMounts()).filter(({ target }) => target.startsWith(`${directory}/`));
  for (const { target } of left.reverse()) await realProcesses.start('umount', [target]).ended;
  rmSync(directory, { recursive: true, force: true });
}
