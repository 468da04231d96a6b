/** The policy of a namespace: a level and a version for each mode (k8s.io/pod-security-admission, api/helpers.go). */
import { type FieldError, invalid } from '../../../../api/field-error.ts';

export type Level = 'privileged' | 'baseline' | 'restricted';

/** The minor of 'v1.N'; 'latest': the newest one that this server knows. */
export type Version = number | 'latest';

export interface LevelVersion {
  readonly level: Level;
  readonly version: Version;
}

export interface Policy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

/** Less strict first. */
const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];

export const labelPrefix = 'pod-security.kubernetes.io/';

type Mode = keyof Policy;
const modes: readonly Mode[] = ['enforce', 'audit', 'warn'];

export const levelProblem = `must be one of ${levels.join(', ')}`;
export const versionProblem = 'must be "latest" or "v1.x"';

export const parseLevel = (text: string): Level | undefined => levels.find((level) => level === text);

export function parseVersion(text: string): Version | undefined {
  if (text === 'latest') return text;
  const minor = /^v1\.([0-9]|[1-9][0-9]{0,14})$/.exec(text)?.[1];
  return minor === undefined ? undefined : Number(minor);
}

export const privileged: LevelVersion = { level: 'privileged', version: 'latest' };

/** 'baseline:v1.30' */
export const levelVersionText = ({ level, version }: LevelVersion): string => `${level}:${version === 'latest' ? version : `v1.${version}`}`;

/** Above 0: `a` is the stricter one. */
export const compareLevels = (a: Level, b: Level): number => levels.indexOf(a) - levels.indexOf(b);

export const isFullyPrivileged = (policy: Policy): boolean => modes.every((mode) => policy[mode].level === 'privileged');

export const isSameLevelVersion = (a: LevelVersion, b: LevelVersion): boolean => a.level === b.level && a.version === b.version;

export const isEquivalent = (a: Policy, b: Policy): boolean =>
  modes.every((mode) => isSameLevelVersion(a[mode], b[mode]) || (a[mode].level === 'privileged' && b[mode].level === 'privileged'));

export interface EvaluatedLabels {
  readonly policy: Policy;
  readonly errors: readonly FieldError[];
}

type Labels = Readonly<Record<string, string>>;

/**
 * The policy that the labels of a namespace set; unset ones come from the defaults. There is a policy also with errors: enforce becomes restricted, audit and
 * warn become privileged. Without a label of its own, warn is at least as strict as an enforce label.
 */
export function policyToEvaluate(labels: Labels | undefined, defaults: Policy): EvaluatedLabels {
  if (labels === undefined) return { policy: defaults, errors: [] };
  const errors: FieldError[] = [];
  const [enforce, audit, warn] = modes.map((mode) => readMode(labels, mode, { defaults, errors }));
  const policy: Policy = { enforce: enforce ?? defaults.enforce, audit: audit ?? defaults.audit, warn: warn ?? defaults.warn };
  const enforceLevel = labels[`${labelPrefix}enforce`];
  const follows = !hasLabel(labels, 'warn') && enforceLevel !== undefined && parseLevel(enforceLevel) !== undefined;
  if (!follows || compareLevels(policy.enforce.level, policy.warn.level) <= 0) return { policy, errors };
  const version = hasLabel(labels, 'warn-version') ? policy.warn.version : policy.enforce.version;
  return { policy: { ...policy, warn: { level: policy.enforce.level, version } }, errors };
}

export const hasLabel = (labels: Labels, name: string): boolean => labels[labelPrefix + name] !== undefined;

function readMode(labels: Labels, mode: Mode, { defaults, errors }: { readonly defaults: Policy; readonly errors: FieldError[] }): LevelVersion {
  let { level, version } = defaults[mode];
  const levelLabel = labels[labelPrefix + mode];
  if (levelLabel !== undefined) {
    const parsed = parseLevel(levelLabel);
    if (parsed === undefined) errors.push(invalid(labelField(mode), levelLabel, levelProblem));
    level = parsed ?? (mode === 'enforce' ? 'restricted' : 'privileged');
  }
  const versionLabel = labels[`${labelPrefix}${mode}-version`];
  if (versionLabel !== undefined) {
    const parsed = parseVersion(versionLabel);
    if (parsed === undefined) errors.push(invalid(labelField(`${mode}-version`), versionLabel, versionProblem));
    version = parsed ?? 'latest';
  }
  return { level, version };
}

const labelField = (name: string): string => `metadata.labels[${labelPrefix}${name}]`;
