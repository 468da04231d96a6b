/**
 * Nothing runs on a hollow node: annotations of a pod script what its containers do (docs/EXTENSIONS.md). Each holds one value for all
 * regular containers, values by container, or both:
 *
 *     mooring.dev/run-for: 30s                 every regular container ends after half a minute
 *     mooring.dev/exit-code: 1,helper=0        with exit code 1, but `helper` with 0
 *     mooring.dev/ready-after: never           it never becomes ready
 *     mooring.dev/stop-after: app=90s          `app` takes its time when it is asked to stop
 */
import type { Container, Pod } from '../../../api/generated/types.ts';
import { isSidecar } from '../../../api/kinds/pod/pod-parts.ts';

export interface Script {
  /** Milliseconds; undefined: until it is stopped. */
  runFor(container: Container): number | undefined;
  exitCode(container: Container): number;
  /** Milliseconds from its start; Infinity: never. */
  readyAfter(container: Container): number;
  /** Milliseconds from the stop signal. */
  stopAfter(container: Container): number;
  /** Values that cannot be parsed, and are ignored. */
  readonly problems: readonly string[];
}

export function scriptOf({ metadata, spec }: Pod): Script {
  const problems: string[] = [];
  const read = <T>(name: string, parse: (text: string) => T | undefined): Values<T> => {
    const text = metadata.annotations?.[`${prefix}${name}`];
    return text === undefined ? noValues : readValues(text, parse, (part) => problems.push(`${prefix}${name}: "${part}" makes no sense and is ignored`));
  };
  const [runFor, exitCode] = [read('run-for', parseDuration), read('exit-code', parseExitCode)];
  const [readyAfter, stopAfter] = [read('ready-after', parseDelay), read('stop-after', parseDuration)];
  const initContainers = new Set(spec.initContainers ?? []);
  const ephemeral: ReadonlySet<Container> = new Set(spec.ephemeralContainers ?? []);
  const of = <T>(values: Values<T>, container: Container): T | undefined =>
    values.byContainer.get(container.name) ?? (initContainers.has(container) || ephemeral.has(container) ? undefined : values.general);
  const isJob = metadata.ownerReferences?.some(({ controller, kind, apiVersion }) => controller === true && kind === 'Job' && apiVersion.startsWith('batch/'));
  // A pod with a deadline that runs once has a task that ends: a volume scrubber, for one.
  const ends = isJob === true || (spec.restartPolicy === 'Never' && spec.activeDeadlineSeconds !== undefined);
  const usual = (container: Container) =>
    ephemeral.has(container) ? undefined : initContainers.has(container) ? (isSidecar(container) ? undefined : 0) : ends ? jobMs : undefined;
  return {
    runFor: (container) => of(runFor, container) ?? usual(container),
    exitCode: (container) => of(exitCode, container) ?? 0,
    readyAfter: (container) => of(readyAfter, container) ?? 0,
    stopAfter: (container) => of(stopAfter, container) ?? 0,
    problems,
  };
}

const prefix = 'mooring.dev/';

/** How long a task takes by default. */
const jobMs = 1000;

interface Values<T> {
  readonly general: T | undefined;
  readonly byContainer: ReadonlyMap<string, T>;
}

const noValues: Values<never> = { general: undefined, byContainer: new Map<string, never>() };

function readValues<T>(text: string, parse: (text: string) => T | undefined, refuse: (part: string) => void): Values<T> {
  let general: T | undefined;
  const byContainer = new Map<string, T>();
  for (const part of text.split(',').map((each) => each.trim())) {
    const at = part.indexOf('=');
    const value = parse(part.slice(at + 1).trim());
    if (value === undefined) refuse(part);
    else if (at === -1) general = value;
    else byContainer.set(part.slice(0, at).trim(), value);
  }
  return { general, byContainer };
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** '90s', '1h30m', '500ms'; a plain number is seconds. In milliseconds. */
function parseDuration(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  if (!/^(?:\d{1,9}(?:ms|s|m|h))+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d{1,9})(ms|s|m|h)/g)].reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ''] ?? 0), 0);
}

const parseDelay = (text: string): number | undefined => (text === 'never' ? Number.POSITIVE_INFINITY : parseDuration(text));

function parseExitCode(text: string): number | undefined {
  const code = /^\d{1,3}$/.test(text) ? Number(text) : 256;
  return code <= 255 ? code : undefined;
}
