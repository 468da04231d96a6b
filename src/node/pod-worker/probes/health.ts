/** What probes say of a container, as a function of their outcomes, by the rules of kubelets. */
import type { Container, Probe } from '../../../api/generated/types.ts';

export interface ContainerHealth {
  /** It has done what it does before it counts as started. */
  readonly started: boolean;
  readonly ready: boolean;
  /** It has to be started again. */
  readonly failed: 'liveness' | 'startup' | undefined;
}

export type ProbeType = 'startup' | 'readiness' | 'liveness';

/** One probe of one run. */
export interface ProbeState {
  /** Outcomes like the last one, in a row. */
  readonly inRow: number;
  readonly last: boolean | undefined;
  /** What counts by now; undefined: nothing yet. */
  readonly counts: boolean | undefined;
  readonly nextAt: number;
}

export const probeOf = ({ startupProbe, readinessProbe, livenessProbe }: Container, type: ProbeType): Probe | undefined =>
  ({ startup: startupProbe, readiness: readinessProbe, liveness: livenessProbe })[type];

/** `from`: when it may be asked first; milliseconds since 1970. */
export const initialProbeState = (from: number): ProbeState => ({ inRow: 0, last: undefined, counts: undefined, nextAt: from });

export function nextProbeState(before: ProbeState, probe: Probe, { ok, now }: { readonly ok: boolean; readonly now: number }): ProbeState {
  const { successThreshold = 1, failureThreshold = 3, periodSeconds = 10 } = probe;
  const inRow = before.last === ok ? before.inRow + 1 : 1;
  const isEnough = inRow >= (ok ? successThreshold : failureThreshold);
  return { inRow, last: ok, counts: isEnough ? ok : before.counts, nextAt: now + periodSeconds * 1000 };
}

/** `standings`: of the probes that the container has; those of a run that nobody has asked yet are absent. */
export function healthOf(container: Container, standings: ReadonlyMap<ProbeType, ProbeState>): ContainerHealth {
  const counts = (type: ProbeType) => standings.get(type)?.counts;
  const started = container.startupProbe === undefined || counts('startup') === true;
  return {
    started,
    ready: started && (container.readinessProbe === undefined || counts('readiness') === true),
    failed: counts('startup') === false ? 'startup' : counts('liveness') === false ? 'liveness' : undefined,
  };
}
