import { baselineChecks } from './checks/baseline.ts';
import type { Check, CheckedPod, CheckPod, Violation } from './checks/check.ts';
import { restrictedChecks } from './checks/restricted.ts';
import type { LevelVersion } from './policy.ts';

/** Baseline checks come first; within a level the order is that of the ids, which messages follow. */
const allChecks: readonly Check[] = [...byId(baselineChecks), ...byId(restrictedChecks)];

function byId(checks: readonly Check[]): readonly Check[] {
  return checks.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The newest version with a change; all later ones are the same. */
const newestVersion = Math.max(...allChecks.flatMap(({ versions }) => versions.map(({ since }) => since)));

const checksOf = new Map<string, readonly CheckPod[]>();

function checksFor({ level, version }: LevelVersion): readonly CheckPod[] {
  if (level === 'privileged') return [];
  const minor = version === 'latest' ? newestVersion : Math.min(version, newestVersion);
  const key = `${level} ${minor}`;
  let checks = checksOf.get(key);
  if (checks === undefined) {
    checks = selectChecks(level, minor);
    checksOf.set(key, checks);
  }
  return checks;
}

function selectChecks(level: Check['level'], minor: number): readonly CheckPod[] {
  const applicable = allChecks
    .filter((check) => level === 'restricted' || check.level === 'baseline')
    .flatMap(({ id, versions, overrides = [] }) => {
      const checkPod = versions.findLast(({ since }) => since <= minor)?.checkPod;
      return checkPod === undefined ? [] : [{ id, checkPod, overrides }];
    });
  const overridden = new Set(applicable.flatMap(({ overrides }) => overrides));
  return applicable.filter(({ id }) => !overridden.has(id)).map(({ checkPod }) => checkPod);
}

/** What a pod violates; empty: it is allowed. */
export const evaluatePod = (policy: LevelVersion, pod: CheckedPod): readonly Violation[] => checksFor(policy).flatMap((checkPod) => checkPod(pod) ?? []);

/** 'host ports, privileged' */
export const reasonsText = (violations: readonly Violation[]): string => violations.map(({ reason }) => reason).join(', ');

/** 'host ports (8080, 9090), privileged (…)' */
export const detailsText = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');
