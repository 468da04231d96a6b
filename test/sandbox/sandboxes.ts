/** Real containers for tests, on this machine, without leftovers. */
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { describe, expect, test } from 'vitest';
import { createRealWorld } from '../../src/host/world.ts';
import type { ContainerSpec, PodSandboxSpec, PodState, Runtime } from '../../src/node/runtime.ts';
import { canSandbox } from '../../src/node/runtimes/sandbox/detect.ts';
import type { ShimSettings } from '../../src/node/runtimes/sandbox/shim/shim.ts';
import { layoutOf } from '../../src/node/runtimes/sandbox/shim/layout.ts';
import { directoriesOf, killGroups, marked, run, signal } from '../../src/node/runtimes/sandbox/shim/processes.ts';
import { sandboxRuntime } from '../../src/node/runtimes/sandbox/sandbox.ts';

/** Tests with containers. On a machine that does not permit them, only the error is tested. */
export function describeWithSandboxes(name: string, tests: () => void): void {
  const ability = canSandbox();
  if (ability.can) describe(name, tests);
  else test(`${name}: one line says why there are none`, () => expect(ability.why).toMatch(/^(containers need|this machine does not permit it:) .+$/));
}

export interface Machine {
  readonly root: string;
  readonly podCidr: string;
  /** The runtime of an agent; a second one is that of a restarted agent. `launcher`: a program that executes the shim, with its arguments. */
  agent(launcher?: readonly string[]): Runtime;
  /** One more shim of the same state. Resolves with its exit code. */
  startShim(): Promise<number | null>;
  /** Resolves once the pod's state matches. */
  until(runtime: Runtime, uid: string, isSo: (pod: PodState | undefined) => boolean): Promise<PodState | undefined>;
  dispose(): Promise<void>;
}

/** The shim's program is built for the test: it is a process of its own, which runs JavaScript. */
export async function sandboxMachine(options: Partial<ShimSettings> = {}): Promise<Machine> {
  const root = mkdtempSync(path.join(tmpdir(), 'moor-sandbox-'));
  // Where it finds packages.
  const program = path.join(process.cwd(), 'node_modules', `.moor-shim-${path.basename(root)}.mjs`);
  const bundle = await rolldown({ input: 'src/commands/container-shim.ts', platform: 'node', external: /^[^./]/ });
  await bundle.write({ file: program, codeSplitting: false });
  const world = createRealWorld({ logLevel: 'silent' });
  // A pod CIDR of its own: tests run in parallel.
  const podCidr = `10.${200 + ((randomBytes(1)[0] ?? 0) % 50)}.${randomBytes(1)[0] ?? 0}.0/24`;
  const state = path.join(root, 'state');
  const settings = { root: state, podCidr, idleMs: 200, ...options };
  const runtimes: Runtime[] = [];
  return {
    root: state,
    podCidr,
    agent(launcher = []) {
      const runtime = sandboxRuntime({ world, root: state, version: 'test', shim: [...launcher, process.execPath, program, JSON.stringify(settings)] });
      runtimes.push(runtime);
      return runtime;
    },
    startShim: () => new Promise((resolve) => spawn(process.execPath, [program, JSON.stringify(settings)], { stdio: 'ignore' }).once('exit', resolve)),
    until: (runtime, uid, isSo) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!isSo(runtime.pod(uid))) return;
          cancel();
          resolve(runtime.pod(uid));
        };
        const cancel = runtime.observe(look);
        look();
      }),
    async dispose() {
      await Promise.all(runtimes.map((runtime) => runtime.close()));
      await endContainers(state);
      rmSync(root, { recursive: true, force: true });
      rmSync(program, { force: true });
    },
  };
}

/** Ends the shim of that state directory and its containers. */
export async function endContainers(state: string): Promise<void> {
  const layout = layoutOf(state);
  for (const mark of [`shim ${state}`, layout.mark('')]) for (const pid of marked(mark).values()) signal(pid, 'SIGKILL');
  // The end of their parents, which have no rights, does not end processes of other users than root.
  killGroups(directoriesOf(layout.group));
  await run(['ip', 'link', 'del', layout.bridge]);
}

export const podSpec = (over: Partial<PodSandboxSpec> = {}): PodSandboxSpec => ({
  uid: randomUUID(),
  namespace: 'default',
  name: 'web',
  hostname: 'web',
  address: undefined,
  hostIpc: false,
  resources: { cpuMilli: undefined, cpuRequestMilli: undefined, memoryBytes: undefined },
  resolvConf: 'nameserver 10.0.0.10\n',
  hosts: '127.0.0.1\tlocalhost\n',
  ...over,
});

export const containerSpec = (podUid: string, over: Partial<ContainerSpec> = {}): ContainerSpec => ({
  podUid,
  name: 'app',
  attempt: 0,
  image: 'busybox',
  command: ['sh', '-c'],
  args: ['sleep infinity'],
  env: [],
  workingDir: '',
  user: { uid: undefined, gid: undefined, groups: [] },
  mounts: [],
  devices: [],
  resources: { cpuMilli: undefined, cpuRequestMilli: undefined, memoryBytes: undefined },
  readOnlyRoot: false,
  privileged: false,
  capabilities: { add: [], drop: [] },
  noNewPrivileges: false,
  hostPid: false,
  stdin: false,
  stdinOnce: false,
  tty: false,
  terminationMessage: { path: '/dev/termination-log', orLastLog: false },
  ...over,
});
