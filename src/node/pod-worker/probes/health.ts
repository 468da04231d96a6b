/** The health of a container as a function of its probes' outcomes, by the kubelet's rules (pkg/kubelet/prober/worker.go). */
import type { Container, Probe } from '../../../api/generated/types.ts';
import type { ContainerHealth } from '../../runtime.ts';

export type ProbeType = 'startup' | 'readiness' | 'liveness';

/** One probe of one run. */
export interface ProbeState {
  /** Consecutive outcomes like the last one. */
  readonly inRow: number;
  readonly last: boolean | undefined;
  /** The outcome that has reached its threshold; undefined: none yet. */
  readonly counts: boolean | undefined;
  readonly nextAt: number;
}

export const probeOf = ({ startupProbe, readinessProbe, livenessProbe }: Container, type: ProbeType): Probe | undefined =>
  ({ startup: startupProbe, readiness: readinessProbe, liveness: livenessProbe })[type];

/** `from`: when it may be probed first; milliseconds since 1970. */
export const initialProbeState = (from: number): ProbeState => ({ inRow: 0, last: undefined, counts: undefined, nextAt: from });

export function nextProbeState(before: ProbeState, probe: Probe, { ok, now }: { readonly ok: boolean; readonly now: number }): ProbeState {
  const { successThreshold = 1, failureThreshold = 3, periodSeconds = 10 } = probe;
  const inRow = before.last === ok ? before.inRow + 1 : 1;
  const isEnough = inRow >= (ok ? successThreshold : failureThreshold);
  return { inRow, last: ok, counts: isEnough ? ok : before.counts, nextAt: now + periodSeconds * 1000 };
}

/** `states`: of the probes that the container has; a probe that has not run yet is absent. */
export function healthOf(container: Container, states: ReadonlyMap<ProbeType, ProbeState>): ContainerHealth {
  const counts = (type: ProbeType) => states.get(type)?.counts;
  const started = container.startupProbe === undefined || counts('startup') === true;
  return {
    started,
    ready: started && (container.readinessProbe === undefined || counts('readiness') === true),
    failed: counts('startup') === false ? 'startup' : counts('liveness') === false ? 'liveness' : undefined,
  };
}
