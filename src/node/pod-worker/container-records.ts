import type { Container, Pod } from '../../api/generated/types.ts';
import { isSidecar } from '../../api/kinds/pod/pod-parts.ts';
import { shouldRestart } from '../pods/restart.ts';
import type { ContainerRecord, Exit, Run } from '../pods/runtime-state.ts';
import { recordsOf } from '../pods/status/container-statuses.ts';
import type { ContainerRun } from '../runtime.ts';
import type { PodWorkerState } from './actions.ts';
import type { ContainerHealth } from './probes/health.ts';

export interface RunsSnapshot {
  readonly pod: Pod;
  readonly runs: readonly ContainerRun[];
  readonly memory: PodWorkerState;
  /** What probes have found out about a run. */
  readonly health: (id: string) => ContainerHealth;
  /** 'sandbox' */
  readonly runtime: string;
  readonly imageId: (image: string) => string;
}

/** What is known of each container: from its runs, and where the runtime has lost them, from what was last said. */
export function containerRecords(sight: RunsSnapshot): ReadonlyMap<string, ContainerRecord> {
  const said = recordsOf(sight.pod.status);
  const { initContainers = [], containers, ephemeralContainers = [] } = sight.pod.spec;
  const isEphemeral = (container: Container): boolean => ephemeralContainers.some(({ name }) => name === container.name);
  const records = new Map<string, ContainerRecord>();
  for (const container of [...initContainers, ...(containers ?? []), ...ephemeralContainers]) {
    const record = recordOf(container, sight) ?? lost(said.get(container.name));
    const waiting = sight.memory.waiting.get(container.name);
    const known = record ?? (waiting === undefined ? undefined : nothing);
    if (known !== undefined)
      records.set(container.name, {
        ...known,
        waiting: isEphemeral(container) ? (known.run === undefined ? waiting : undefined) : mayStart(container, known, sight.pod) ? waiting : undefined,
      });
  }
  return records;
}

/** Who runs, or is not to run again, waits for nothing. */
function mayStart(container: Container, { run }: ContainerRecord, { spec }: Pod): boolean {
  return run === undefined || (run.state === 'exited' && shouldRestart(container, spec, run.exitCode));
}

const nothing: ContainerRecord = { run: undefined, previous: undefined, restarts: 0, imageId: '', started: false, ready: false, waiting: undefined };

function recordOf(container: Container, sight: RunsSnapshot): ContainerRecord | undefined {
  const { memory, health, pod } = sight;
  // Whoever has started and not yet done what follows the start is not yet seen.
  const runs = sight.runs.filter(({ name, id }) => name === container.name && memory.hooks.get(id) !== 'running');
  const [latest, before] = [runs.at(-1), runs.at(-2)];
  if (latest === undefined) return undefined;
  const isInit = pod.spec.initContainers?.some(({ name }) => name === container.name) === true && !isSidecar(container);
  const isUp = latest.state.type === 'running';
  const { started, ready } = health(latest.id);
  return {
    run: runOf(latest, sight.runtime),
    previous: before?.state.type === 'exited' ? (runOf(before, sight.runtime) as Exit) : undefined,
    restarts: latest.attempt,
    imageId: sight.imageId(latest.image),
    started: isUp && started,
    ready: isInit ? latest.state.type === 'exited' && latest.state.exitCode === 0 : isUp && started && ready,
    waiting: undefined,
  };
}

function runOf({ id: own, image, state }: ContainerRun, runtime: string): Run {
  const id = `${runtime}://${own}`;
  if (state.type === 'running') return { state: 'running', id, image, startedAt: state.startedAt };
  const { startedAt, finishedAt, exitCode, reason, message } = state;
  return { state: 'exited', id, image, startedAt, finishedAt, exitCode, reason, ...(message === '' ? {} : { message }) };
}

/** It was said to run, and nobody knows anything of it: the runtime's memory is gone, most likely with the machine's. */
function lost(record: ContainerRecord | undefined): ContainerRecord | undefined {
  if (record?.run?.state !== 'running') return record;
  const { id, image, startedAt } = record.run;
  const run: Exit = { state: 'exited', id, image, startedAt, finishedAt: startedAt, exitCode: 137, reason: 'ContainerStatusUnknown', message: lostMessage };
  return { ...record, run, started: false, ready: false };
}

const lostMessage = 'The container could not be located when the pod was terminated';
