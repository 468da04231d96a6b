/** This machine for the conformance suite: all tests stay below one directory, which is empty at the start of each. */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import type { Hooks, HostUnderTest, MachineUnderTest } from '../../src/drivers/conformance.ts';
import { realHostFiles } from '../../src/host/files.ts';
import { readMounts, realMounts } from '../../src/host/mounts.ts';
import { realPrograms } from '../../src/host/programs.ts';

export interface ThisMachine {
  readonly root: string;
  /** A path below the root. */
  readonly at: (relative: string) => string;
  /** Empties the directory. `tidy` runs after all unmounts. */
  readonly empty: () => Promise<MachineUnderTest>;
}

/** Call it in a describe block: the directory is removed after its last test. */
export function thisMachine(tidy: (root: string) => Promise<void> = async () => undefined): ThisMachine {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-drivers-')));
  const clear = async () => {
    await unmountBelow(root);
    await tidy(root);
    for (const name of readdirSync(root)) rmSync(path.join(root, name), { recursive: true, force: true });
  };
  const empty = async () => {
    await clear();
    return { root, host: (hooks: Hooks = {}) => hooked(hooks) };
  };
  afterAll(async () => {
    await clear();
    rmSync(root, { recursive: true });
  });
  return { root, at: (relative) => path.join(root, relative), empty };
}

/** Files below a mount may be user data: if an unmount fails, nothing is removed. */
export async function unmountBelow(root: string): Promise<void> {
  const mounts = realMounts();
  for (const { target } of [...(await readMounts())].reverse()) if (target.startsWith(`${root}/`)) await mounts.unmount(target, 'lazy');
}

const real: Required<HostUnderTest> = { ...realMounts(), ...realHostFiles, ...realPrograms };

/** Wraps each call with the hooks of the test. */
function hooked({ before = () => undefined, after = () => undefined }: Hooks): HostUnderTest {
  const names = Object.keys(real) as (keyof typeof real)[];
  const wrap = (name: keyof typeof real) => {
    const call = real[name] as (...args: readonly unknown[]) => Promise<unknown>;
    return async (...args: readonly unknown[]) => {
      const program = name === 'run' ? { program: args.slice(0, 2).flat().join(' ') } : {};
      await before({ name, ...program });
      const answer = await call(...args);
      await after({ name, ...program });
      return answer;
    };
  };
  return Object.fromEntries(names.map((name) => [name, wrap(name)])) as unknown as HostUnderTest;
}
