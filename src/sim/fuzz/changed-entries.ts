/** What a restart changed in the store. */
import type { Entry } from '../../store/contract.ts';

/** Why a pod finds no node is said anew only when a change may help it, as in Kubernetes: it may be out of date. */
const unschedulable = /"type":"PodScheduled"[^}]*\}/g;

/** A driver that refuses to attach is asked again, also by a restarted attacher, and each failure is written with its time: external-attacher (v4.9, `saveAttachError`). */
const attachErrorTime = /("attachError":\{"time":)"[^"]*"/;

/** The time by which a Deployment has to progress is over on a clock that is ahead of that of the last leader, in Kubernetes as well. */
const progressing = /"type":"Progressing"[^}]*\}/;
const isProgressOverdue = (deployment: string): boolean => progressing.exec(deployment)?.[0].includes('"ProgressDeadlineExceeded"') === true;

function saysTheSame({ key, one, other }: { readonly key: string; readonly one: string; readonly other: string }, hasClockAhead: boolean): boolean {
  if (hasClockAhead && key.startsWith('/registry/apps/deployments/'))
    return isProgressOverdue(other) && one.replace(progressing, '') === other.replace(progressing, '');
  if (key.startsWith('/registry/pods/')) return isBeingBound(one) || one.replace(unschedulable, '') === other.replace(unschedulable, '');
  if (key.startsWith('/registry/storage.k8s.io/volumeattachments/')) return one.replace(attachErrorTime, '$1') === other.replace(attachErrorTime, '$1');
  return false;
}

/** The scheduler waits up to ten minutes for the volumes of a pod for which it has chosen a node; a restarted one begins anew. */
const isBeingBound = (pod: string): boolean => pod.includes('"nominatedNodeName":') && !pod.includes('"nodeName":');

const textOf = (value: Uint8Array): string => Buffer.from(value).toString();

/** What is around the first character that differs. */
function firstDifference(one: string, other: string): string {
  const at = Array.from(one).findIndex((character, i) => character !== other[i]);
  const [from, to] = [Math.max(0, at - 100), at + 100];
  return at < 0 ? 'to the same' : `${one.slice(from, to)} became ${other.slice(from, to)}`;
}

/**
 * The first key with another revision, and what is new about it; undefined: all say what they said. `hasClockAhead`: the clock of a component that may
 * lead now is ahead.
 */
export function changedSince(before: readonly Entry[], after: readonly Entry[], hasClockAhead = false): string | undefined {
  const known = new Map(before.map((entry) => [entry.key, entry]));
  for (const { key, modRevision, value } of after) {
    const was = known.get(key);
    if (was === undefined) return `${key} is new`;
    if (was.modRevision !== modRevision && !saysTheSame({ key, one: textOf(was.value), other: textOf(value) }, hasClockAhead))
      return `${key} is written: ${firstDifference(textOf(was.value), textOf(value))}`;
    known.delete(key);
  }
  const [gone] = known.keys();
  return gone === undefined ? undefined : `${gone} is gone`;
}
