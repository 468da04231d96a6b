import { StoreError } from '../contract.ts';

type Numbers = readonly [major: number, minor: number, patch: number];

/**
 * Before these, etcd may tell the progress of a watch ahead of its events (etcd-io/etcd#15220, #17529; Kubernetes:
 * storage/feature/feature_support_checker.go).
 */
const trusted34: Numbers = [3, 4, 31];
const trusted35: Numbers = [3, 5, 13];
const oldest: Numbers = [3, 4, 0];

/** Whether the progress of a watch can be believed. */
export function isProgressTrusted(version: string): boolean {
  const numbers = numbersOf(version);
  if (numbers === undefined) return false;
  return isAtLeast(numbers, numbers[0] === 3 && numbers[1] === 4 ? trusted34 : trusted35);
}

/** @throws StoreError `unsupported` */
export function refuseTooOld(version: string): void {
  const numbers = numbersOf(version);
  if (numbers === undefined || !isAtLeast(numbers, oldest))
    throw new StoreError(
      'unsupported',
      `etcd ${version || 'of an unknown version'} is too old: Mooring needs ${oldest.join('.')} or newer, best ${trusted35.join('.')} or newer`,
    );
}

function numbersOf(version: string): Numbers | undefined {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  return major === undefined || minor === undefined || patch === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

function isAtLeast(version: Numbers, least: Numbers): boolean {
  for (const [i, number] of version.entries()) if (number !== least[i]) return number > (least[i] ?? 0);
  return true;
}
