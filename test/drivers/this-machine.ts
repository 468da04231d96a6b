/** This machine, as far as the suite of drivers may have it: everything happens below one directory, which each test finds empty. */
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
  /** With nothing on it. `tidy` runs once nothing is mounted any more. */
  readonly empty: () => Promise<MachineUnderTest>;
}

/** Call it where tests are described: the directory goes with the last of them. */
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

/** Files below a mount are somebody's data: whatever cannot be unmounted keeps a test from removing anything. */
export async function unmountBelow(root: string): Promise<void> {
  const mounts = realMounts();
  for (const { target } of [...(await readMounts())].reverse()) if (target.startsWith(`${root}/`)) await mounts.unmount(target, 'lazy');
}

const real: Required<HostUnderTest> = { ...realMounts(), ...realHostFiles, ...realPrograms };

/** Each call, with what the test has to say about it before and after. */
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
