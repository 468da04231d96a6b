import type { Container, Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { isSidecar } from '../../api/kinds/pod/pod-parts.ts';
import { shouldRestart } from '../pods/restart.ts';
import type { ContainerRecord, Exit, Run } from '../pods/runtime-state.ts';
import { recordsOf } from '../pods/status/container-statuses.ts';
import type { ContainerHealth, ContainerRun } from '../runtime.ts';
import type { PodWorkerState } from './actions.ts';

export interface RunsSnapshot {
  readonly pod: Stored<Pod>;
  readonly runs: readonly ContainerRun[];
  readonly memory: PodWorkerState;
  /** The probes' results for a run. */
  readonly health: (id: string) => ContainerHealth;
  /** 'sandbox' */
  readonly runtime: string;
  readonly imageId: (image: string) => string;
}

/** What is known of each container: from its runs, and where the runtime has lost them, from the pod's last status. */
export function containerRecords(snapshot: RunsSnapshot): ReadonlyMap<string, ContainerRecord> {
  const reported = recordsOf(snapshot.pod.status);
  const { initContainers = [], containers, ephemeralContainers = [] } = snapshot.pod.spec;
  const isEphemeral = (container: Container): boolean => ephemeralContainers.some(({ name }) => name === container.name);
  const records = new Map<string, ContainerRecord>();
  for (const container of [...initContainers, ...(containers ?? []), ...ephemeralContainers]) {
    const record = recordOf(container, snapshot) ?? lost(reported.get(container.name));
    const waiting = snapshot.memory.waiting.get(container.name);
    const known = record ?? (waiting === undefined ? undefined : nothing);
    if (known !== undefined)
      records.set(container.name, {
        ...known,
        waiting: isEphemeral(container) ? (known.run === undefined ? waiting : undefined) : mayStart(container, known, snapshot.pod) ? waiting : undefined,
      });
  }
  return records;
}

/** A container that runs, or is not restarted, waits for nothing. */
function mayStart(container: Container, { run }: ContainerRecord, { spec }: Pod): boolean {
  return run === undefined || (run.state === 'exited' && shouldRestart(container, spec, run.exitCode));
}

const nothing: ContainerRecord = { run: undefined, previous: undefined, restarts: 0, imageId: '', started: false, ready: false, waiting: undefined };

function recordOf(container: Container, snapshot: RunsSnapshot): ContainerRecord | undefined {
  const { memory, health, pod } = snapshot;
  // A run counts once its postStart hook is over.
  const runs = snapshot.runs.filter(({ name, id }) => name === container.name && memory.hooks.get(id) !== 'running');
  const [latest, before] = [runs.at(-1), runs.at(-2)];
  if (latest === undefined) return undefined;
  const isInit = pod.spec.initContainers?.some(({ name }) => name === container.name) === true && !isSidecar(container);
  const isUp = latest.state.type === 'running';
  const { started, ready } = health(latest.id);
  return {
    run: runOf(latest, snapshot.runtime),
    previous: before?.state.type === 'exited' ? (runOf(before, snapshot.runtime) as Exit) : undefined,
    restarts: latest.attempt,
    imageId: latest.imageId ?? snapshot.imageId(latest.image),
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

/** The status says that it runs, and the runtime does not know it: most likely the machine was restarted. */
function lost(record: ContainerRecord | undefined): ContainerRecord | undefined {
  if (record?.run?.state !== 'running') return record;
  const { id, image, startedAt } = record.run;
  const run: Exit = { state: 'exited', id, image, startedAt, finishedAt: startedAt, exitCode: 137, reason: 'ContainerStatusUnknown', message: lostMessage };
  return { ...record, run, started: false, ready: false };
}

const lostMessage = 'The container could not be located when the pod was terminated';
