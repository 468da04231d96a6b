import type { Container, ContainerStatus, Pod, PodStatus } from '../../../api/generated/types.ts';
import { isSidecar } from '../../../api/kinds/pod/pod-parts.ts';
import { shouldRestart } from '../restart.ts';

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

type Statuses = Pick<PodStatus, 'initContainerStatuses' | 'containerStatuses'>;

/** `terminal`: no container is started any more. `initialized`: regular containers have been started. */
export interface PhaseContext {
  readonly terminal: boolean;
  readonly initialized: boolean;
}

/** The pod's phase, by the kubelet's rules (getPhase in pkg/kubelet/kubelet_pods.go). */
export function phaseOf({ spec }: Pick<Pod, 'spec'>, statuses: Statuses, { terminal, initialized }: PhaseContext): Phase {
  const { initContainers = [], containers } = spec;
  const all = [...(statuses.initContainerStatuses ?? []), ...(statuses.containerStatuses ?? [])];
  const find = ({ name }: Container) => all.find((status) => status.name === name);
  const first = initContainers.filter((container) => !isSidecar(container)).map((container) => standing(container, find(container)));
  const sidecars = initContainers.filter(isSidecar).map((container) => standing(container, find(container)));
  const regular = (containers ?? []).map((container) => standing(container, find(container)));

  if (first.some((each) => each.state === 'stopped' && each.exitCode !== 0 && !shouldRestart(each.container, spec, each.exitCode))) return 'Failed';
  if (first.some(({ state }) => state !== 'stopped')) return 'Pending';
  if (!initialized && sidecars.some(isStarting)) return 'Pending';
  // A container that is about to be restarted counts as stopped, not as waiting; a sidecar that ended does not count.
  if ([...sidecars, ...regular].some(({ state }) => state === 'waiting' || state === 'unknown')) return 'Pending';
  if ([...sidecars, ...regular].some(({ state }) => state === 'running')) return 'Running';
  return ended(regular, ({ container, exitCode }) => !terminal && shouldRestart(container, spec, exitCode));
}

interface Standing {
  readonly container: Container;
  readonly state: 'running' | 'stopped' | 'waiting' | 'unknown';
  readonly exitCode: number;
  readonly started: boolean;
}

function standing(container: Container, status: ContainerStatus | undefined): Standing {
  const started = status?.started ?? false;
  if (status === undefined) return { container, state: 'unknown', exitCode: 0, started };
  const { state, lastState } = status;
  if (state.running !== undefined) return { container, state: 'running', exitCode: 0, started };
  const exit = state.terminated ?? (state.waiting === undefined ? undefined : lastState.terminated);
  if (exit !== undefined) return { container, state: 'stopped', exitCode: exit.exitCode, started };
  return { container, state: state.waiting === undefined ? 'unknown' : 'waiting', exitCode: 0, started };
}

const isStarting = ({ state, started }: Standing): boolean => state === 'waiting' || state === 'unknown' || (state === 'running' && !started);

function ended(regular: readonly Standing[], isComingBack: (each: Standing) => boolean): Phase {
  const stopped = regular.filter(({ state }) => state === 'stopped');
  if (stopped.length === 0) return 'Pending';
  if (stopped.some(isComingBack)) return 'Running';
  return stopped.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed';
}
