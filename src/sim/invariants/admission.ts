/** About what the API server admits, while requests race. */
import { quantityValue } from '../../api/quantity.ts';
import type { LimitRange, PersistentVolumeClaim, Pod, ResourceQuota } from '../../api/generated/types.ts';
import type { Facts } from './facts.ts';
import type { Invariant } from './invariant.ts';

/** A request that was admitted before a quota existed may be committed so long after it. */
const admittedBeforeMs = 3_000;

/** As quotas count pods (pkg/quota/v1/evaluator/core/pods.go): one whose grace period is over does not count, even if its node is lost. */
const isCounted = ({ metadata, status }: Pod): boolean => metadata.deletionTimestamp === undefined && status.phase !== 'Succeeded' && status.phase !== 'Failed';

const inNamespace = <T>(all: ReadonlyMap<string, T>, namespace: string): readonly T[] =>
  Array.from(all).flatMap(([key, object]) => (key.startsWith(`${namespace}/`) ? [object] : []));

const storageOf = ({ spec }: PersistentVolumeClaim): bigint => quantityValue(spec.resources?.requests?.['storage'] ?? '0');

/** What a namespace uses, counted from its objects. */
function usage(facts: Facts, namespace: string): Readonly<Record<string, bigint>> {
  const claims = inNamespace(facts.claims, namespace);
  const pods = inNamespace(facts.pods, namespace).filter(isCounted);
  return {
    persistentvolumeclaims: BigInt(claims.length),
    pods: BigInt(pods.length),
    'requests.storage': claims.reduce((sum, claim) => sum + storageOf(claim), 0n),
  };
}

export const withinQuota = (): Invariant => {
  const since = new Map<string, number>();
  return {
    name: 'no namespace uses more than its quota',
    check: (change, facts, now) => {
      if (change.type === 'quota' && change.before === undefined) since.set(change.key, now);
      const isNew = (change.type === 'claim' || change.type === 'pod') && change.before === undefined && change.after !== undefined;
      if (!isNew) return undefined;
      const namespace = change.key.slice(0, change.key.indexOf('/'));
      const used = usage(facts, namespace);
      for (const [key, quota] of facts.quotas) {
        if (!key.startsWith(`${namespace}/`) || now - (since.get(key) ?? 0) < admittedBeforeMs) continue;
        const over = exceeded(quota, used, change.type);
        if (over !== undefined) return `${change.type} ${change.key} was admitted: ${over}`;
      }
      return undefined;
    },
  };
};

/** Only what the new object adds to: what was there before a quota is not its fault. */
function exceeded({ spec }: ResourceQuota, used: Readonly<Record<string, bigint>>, type: 'claim' | 'pod'): string | undefined {
  for (const [name, hard] of Object.entries(spec.hard ?? {}))
    if ((name === 'pods') === (type === 'pod') && (used[name] ?? 0n) > quantityValue(hard)) return `${name} is ${used[name]}, and the quota ${hard}`;
  return undefined;
}

function isBeyond({ spec }: LimitRange, claim: PersistentVolumeClaim): boolean {
  const most = spec.limits?.find(({ type }) => type === 'PersistentVolumeClaim')?.max?.['storage'];
  return most !== undefined && storageOf(claim) > quantityValue(most);
}

export const withinLimitRange: Invariant = {
  name: 'no claim asks for more than its LimitRange allows',
  check: (change, facts) => {
    if (change.type !== 'claim' || change.before !== undefined || change.after === undefined) return undefined;
    const [namespace = ''] = change.key.split('/');
    const { after } = change;
    // Admitted before the LimitRange was created.
    const isOlder = ({ metadata }: LimitRange) =>
      Date.parse(after.metadata.creationTimestamp ?? '') - Date.parse(metadata.creationTimestamp ?? '') >= admittedBeforeMs;
    if (inNamespace(facts.limitRanges, namespace).some((range) => isOlder(range) && isBeyond(range, after)))
      return `claim ${change.key} asks for more than its LimitRange allows`;
    return undefined;
  },
};

export const notInTerminating: Invariant = {
  name: 'nothing is created in a namespace that is terminating or gone',
  check: (change, facts) => {
    if ((change.type !== 'claim' && change.type !== 'pod' && change.type !== 'account') || change.before !== undefined || change.after === undefined)
      return undefined;
    const [name = ''] = change.key.split('/');
    const namespace = facts.namespaces.get(name);
    if (namespace === undefined) return `${change.type} ${change.key} was created, and its namespace does not exist`;
    return namespace.metadata.deletionTimestamp === undefined ? undefined : `${change.type} ${change.key} was created, and its namespace is terminating`;
  },
};

export const emptyBeforeGone: Invariant = {
  name: 'a namespace is gone only when nothing is left in it',
  check: (change, facts) => {
    if (change.type !== 'namespace' || change.after !== undefined) return undefined;
    const left = [facts.claims, facts.pods, facts.sets, facts.quotas].flatMap((all) => Array.from<string>(all.keys()));
    const found = left.find((key) => key.startsWith(`${change.key}/`));
    return found === undefined ? undefined : `namespace ${change.key} is gone, and ${found} still exists`;
  },
};

/** What must not be left at the end, in any namespace. */
export function namespaceLeftUndone(facts: Facts): string | undefined {
  for (const [name, { metadata }] of facts.namespaces) {
    if (metadata.deletionTimestamp !== undefined) return `namespace ${name} is still terminating`;
    if (!facts.accounts.has(`${name}/default`)) return `namespace ${name} has no service account`;
  }
  const hasDefault = Array.from(facts.classes.values()).some(
    ({ metadata }) => metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true',
  );
  for (const [key, claim] of facts.claims) {
    const { spec, status, metadata } = claim;
    const waits = spec.storageClassName === undefined && status.phase === 'Pending' && metadata.deletionTimestamp === undefined;
    // No update of a claim is admitted that asks for more than a later LimitRange allows, as in Kubernetes.
    if (hasDefault && waits && !inNamespace(facts.limitRanges, metadata.namespace ?? '').some((range) => isBeyond(range, claim)))
      return `claim ${key} still has no class, and there is a default one`;
  }
  for (const [key, { spec, status }] of facts.quotas) {
    const used = usage(facts, key.slice(0, key.indexOf('/')));
    for (const name of Object.keys(spec.hard ?? {}))
      if (quantityValue(status.used?.[name] ?? '-1') !== used[name]) return `quota ${key} says that ${name} is ${status.used?.[name]}, and it is ${used[name]}`;
  }
  return undefined;
}
