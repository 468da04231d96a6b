/** Containers of a machine, for tests: what they print, how they end, and programs beside them. */
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { ContainerRun, ContainerSpec, PodSandboxSpec, PodState, Runtime } from '../../src/node/runtime.ts';
import { containerSpec, type Machine, podSpec } from './sandboxes.ts';

export interface Containers {
  /** A pod's sandbox. */
  pod(over?: Partial<PodSandboxSpec>): Promise<string>;
  /** A container that runs. @throws with the runtime's message if it does not start */
  start(over: Partial<ContainerSpec>, uid?: string): Promise<ContainerRun>;
  /** The output of a container, once it has ended. */
  output(over: Partial<ContainerSpec>, uid?: string): Promise<string>;
  /** The output of a program beside the container's. @throws with the runtime's message if it does not start */
  exec(id: string, command: readonly string[]): Promise<string>;
}

export function containersOf(machine: Machine, runtime: Runtime): Containers {
  const pod = async (over: Partial<PodSandboxSpec> = {}): Promise<string> => {
    const spec = podSpec(over);
    const result = await runtime.startPod(spec);
    if (!result.ok) throw new Error(result.error.message);
    return spec.uid;
  };
  const start = async (over: Partial<ContainerSpec>, uid?: string): Promise<ContainerRun> => {
    const result = await runtime.startContainer(containerSpec(uid ?? (await pod()), over));
    if (!result.ok) throw new Error(result.error.message);
    return result.value;
  };
  const hasEnded = (id: string) => (state: PodState | undefined) => state?.runs.find((run) => run.id === id)?.state.type === 'exited';
  return {
    pod,
    start,
    async output(over, uid) {
      const own = uid ?? (await pod());
      const { id } = await start(over, own);
      await machine.until(runtime, own, hasEnded(id));
      const lines = (await runtime.logFiles(id)).flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'));
      return lines.map((line) => line.split(' ').slice(3).join(' ')).join('\n');
    },
    async exec(id, command) {
      const session = await runtime.exec(id, { command, stdin: false, tty: false });
      if (!session.ok) throw new Error(session.error.message);
      const { stdout, stderr, done } = session.value;
      const [out, err, end] = await Promise.all([stdout === undefined ? '' : text(stdout), stderr === undefined ? '' : text(stderr), done]);
      if (typeof end !== 'number') throw new Error(end.message);
      return (out + err).trim();
    },
  };
}
