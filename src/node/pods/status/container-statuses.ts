import type { Container, EphemeralContainer, ContainerState, ContainerStatus, Pod, PodStatus, VolumeMountStatus } from '../../../api/generated/types.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';
import { without } from '../../../api/validation/without.ts';
import type { ContainerRecord, Exit, Run, RuntimeState } from '../runtime-state.ts';

type Statuses = Pick<PodStatus, 'initContainerStatuses' | 'containerStatuses' | 'ephemeralContainerStatuses'>;

/** Init containers in their order, the others by name. */
export function containerStatuses({ spec }: Pick<Pod, 'spec'>, { containers }: Pick<RuntimeState, 'containers'>): Statuses {
  const { initContainers = [], containers: regular, ephemeralContainers = [] } = spec;
  const unstarted = initContainers.length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const statusOf = (container: Container | EphemeralContainer) => containerStatus(container, containers.get(container.name), unstarted);
  return {
    ...(initContainers.length === 0 ? {} : { initContainerStatuses: initContainers.map(statusOf) }),
    containerStatuses: (regular ?? []).map(statusOf).sort(byName),
    ...(ephemeralContainers.length === 0 ? {} : { ephemeralContainerStatuses: ephemeralContainers.map(statusOf).map(unprobed).sort(byName) }),
  };
}

const byName = (a: ContainerStatus, b: ContainerStatus): number => (a.name < b.name ? -1 : 1);

/** Ephemeral containers have no probes. */
const unprobed = (status: ContainerStatus): ContainerStatus => ({ ...without(status, 'started'), ready: false });

function containerStatus(container: Container | EphemeralContainer, record: ContainerRecord | undefined, unstarted: string): ContainerStatus {
  const volumeMounts = mountsOf(container);
  return {
    name: container.name,
    ...statesOf(record, unstarted),
    ready: record?.ready ?? false,
    restartCount: record?.restarts ?? 0,
    image: record?.run?.image ?? container.image ?? '',
    imageID: record?.imageId ?? '',
    ...(record?.run === undefined ? {} : { containerID: record.run.id }),
    started: record?.started ?? false,
    ...(record?.run === undefined ? {} : resourcesOf(container)),
    ...(volumeMounts.length === 0 ? {} : { volumeMounts }),
  };
}

function statesOf(record: ContainerRecord | undefined, unstarted: string): Pick<ContainerStatus, 'state' | 'lastState'> {
  if (record === undefined) return { state: { waiting: { reason: unstarted } }, lastState: {} };
  const { run, previous, waiting } = record;
  if (waiting !== undefined) {
    const last = run?.state === 'exited' ? run : previous;
    return { state: { waiting: { ...waiting } }, lastState: last === undefined ? {} : { terminated: terminated(last) } };
  }
  return { state: run === undefined ? { waiting: { reason: unstarted } } : stateOf(run), lastState: previous === undefined ? {} : stateOf(previous) };
}

const stateOf = (run: Run): ContainerState =>
  run.state === 'running' ? { running: { startedAt: timestamp(run.startedAt) } } : { terminated: terminated(run) };

function terminated({ id, exitCode, startedAt, finishedAt, reason, message = '' }: Exit): NonNullable<ContainerState['terminated']> {
  return {
    exitCode,
    reason: reason ?? (exitCode === 0 ? 'Completed' : 'Error'),
    ...(message === '' ? {} : { message }),
    startedAt: timestamp(startedAt),
    finishedAt: timestamp(finishedAt),
    containerID: id,
  };
}

function resourcesOf({ resources }: Pick<Container, 'resources'>): Pick<ContainerStatus, 'allocatedResources' | 'resources'> {
  const { requests = {} } = resources;
  return { ...(Object.keys(requests).length === 0 ? {} : { allocatedResources: requests }), resources };
}

const mountsOf = ({ volumeMounts = [] }: Pick<Container, 'volumeMounts'>): VolumeMountStatus[] =>
  volumeMounts.map(({ name, mountPath, readOnly, recursiveReadOnly }) => ({
    name,
    mountPath,
    ...(readOnly === true ? { readOnly, recursiveReadOnly: isRecursive(recursiveReadOnly) ? 'Enabled' : 'Disabled' } : {}),
  }));

const isRecursive = (asked: string | undefined): boolean => asked === 'Enabled' || asked === 'IfPossible';

/** The containers as the pod's status describes them. */
export function recordsOf({
  initContainerStatuses = [],
  containerStatuses: statuses = [],
  ephemeralContainerStatuses = [],
}: PodStatus): ReadonlyMap<string, ContainerRecord> {
  return new Map(
    [...initContainerStatuses, ...statuses, ...ephemeralContainerStatuses].flatMap((status) => {
      const record = recordOf(status);
      return record === undefined ? [] : [[status.name, record]];
    }),
  );
}

function recordOf(status: ContainerStatus): ContainerRecord | undefined {
  const { state, lastState, containerID: id = '', image } = status;
  const last = exitOf(lastState, image);
  const { waiting } = state;
  const run: Run | undefined =
    state.running === undefined
      ? waiting === undefined
        ? exitOf(state, image)
        : last
      : { state: 'running', id, image, startedAt: timeOf(state.running.startedAt) };
  const isHeldBack = waiting?.message !== undefined;
  if (run === undefined && !isHeldBack) return undefined;
  return {
    run,
    previous: waiting === undefined ? last : undefined,
    restarts: status.restartCount,
    imageId: status.imageID,
    started: status.started ?? false,
    ready: status.ready,
    waiting: isHeldBack ? { reason: waiting.reason ?? '', message: waiting.message ?? '' } : undefined,
  };
}

function exitOf({ terminated: exit }: ContainerState, image: string): Exit | undefined {
  if (exit === undefined) return undefined;
  const { containerID: id = '', exitCode, startedAt, finishedAt, reason, message } = exit;
  return {
    state: 'exited',
    id,
    image,
    exitCode,
    startedAt: timeOf(startedAt),
    finishedAt: timeOf(finishedAt),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

const timeOf = (written: string | null): number => Date.parse(written ?? '1970-01-01T00:00:00Z');
