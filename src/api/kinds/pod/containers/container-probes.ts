import { type FieldError, forbidden, invalid, notSupported, required } from '../../../field-error.ts';
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe, ProbeHandler, SleepAction } from '../../../generated/types.ts';
import { httpHeaderNameProblems, portNameProblems, portNumberProblems } from '../../../validation/formats.ts';
import { nonNegative } from '../../../validation/metadata.ts';
import { invalidEach, present } from '../../../validation/field-rules.ts';

/** Seconds that the pod has to end; nothing if it does not say: that is an error already. */
type GracePeriod = number | undefined;

interface ProbedContainer {
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: Lifecycle;
}

export function validateProbesAndHooks(container: ProbedContainer, field: string, gracePeriod: GracePeriod): FieldError[] {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  return [
    ...(lifecycle?.postStart ? validateHandler(lifecycle.postStart, `${field}.lifecycle.postStart`, gracePeriod) : []),
    ...(lifecycle?.preStop ? validateHandler(lifecycle.preStop, `${field}.lifecycle.preStop`, gracePeriod) : []),
    ...(livenessProbe ? validateRestartingProbe(livenessProbe, `${field}.livenessProbe`) : []),
    ...(readinessProbe ? validateReadinessProbe(readinessProbe, `${field}.readinessProbe`) : []),
    ...(startupProbe ? validateRestartingProbe(startupProbe, `${field}.startupProbe`) : []),
  ];
}

/** A probe whose failure restarts the container: one success must be enough. */
function validateRestartingProbe(probe: Probe, field: string): FieldError[] {
  const errors = validateProbe(probe, field);
  const { successThreshold = 0 } = probe;
  return successThreshold === 1 ? errors : [...errors, invalid(`${field}.successThreshold`, successThreshold, 'must be 1')];
}

function validateReadinessProbe(probe: Probe, field: string): FieldError[] {
  const errors = validateProbe(probe, field);
  const seconds = probe.terminationGracePeriodSeconds;
  return seconds === undefined ? errors : [...errors, invalid(`${field}.terminationGracePeriodSeconds`, seconds, 'must not be set for readinessProbes')];
}

const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'] as const;

function validateProbe(probe: Probe, field: string): FieldError[] {
  const errors = [...validateHandler(probe, field, undefined), ...counts.flatMap((count) => nonNegative(probe[count] ?? 0, `${field}.${count}`))];
  const seconds = probe.terminationGracePeriodSeconds;
  return seconds === undefined || seconds > 0 ? errors : [...errors, invalid(`${field}.terminationGracePeriodSeconds`, seconds, 'must be greater than 0')];
}

/** What a probe or a hook does: exactly one thing. */
function validateHandler(handler: ProbeHandler & LifecycleHandler, field: string, gracePeriod: GracePeriod): FieldError[] {
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  const actions: [name: string, errors: (at: string) => FieldError[]][] = [];
  if (exec) actions.push(['exec', (at) => present(exec.command, `${at}.command`)]);
  if (httpGet) actions.push(['httpGet', (at) => validateHttpGet(httpGet, at)]);
  if (tcpSocket) actions.push(['tcpSocket', (at) => validatePort(tcpSocket.port, `${at}.port`)]);
  if (grpc) actions.push(['grpc', (at) => validatePort(grpc.port, `${at}.port`)]);
  if (sleep) actions.push(['sleep', (at) => validateSleep(sleep, at, gracePeriod)]);
  if (actions.length === 0) return [required(field, 'must specify a handler type')];
  return actions.flatMap(([name, errors], i) =>
    i === 0 ? errors(`${field}.${name}`) : [forbidden(`${field}.${name}`, 'may not specify more than 1 handler type')],
  );
}

const schemes = ['HTTP', 'HTTPS'];

function validateHttpGet({ path = '', port, scheme = '', httpHeaders = [] }: HTTPGetAction, field: string): FieldError[] {
  return [
    ...present(path, `${field}.path`),
    ...validatePort(port, `${field}.port`),
    ...(schemes.includes(scheme) ? [] : [notSupported(`${field}.scheme`, scheme, schemes)]),
    ...httpHeaders.flatMap(({ name }) => invalidEach(`${field}.httpHeaders`, name, httpHeaderNameProblems(name))),
  ];
}

const validatePort = (port: number | string, field: string): FieldError[] =>
  invalidEach(field, port, typeof port === 'number' ? portNumberProblems(port) : portNameProblems(port));

function validateSleep({ seconds }: SleepAction, field: string, gracePeriod: GracePeriod): FieldError[] {
  if (gracePeriod === undefined || (seconds >= 0 && seconds <= gracePeriod)) return [];
  return [invalid(field, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`)];
}
