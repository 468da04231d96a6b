/** The revisions of a DaemonSet's template. */
import type { ControllerRevision, DaemonSet, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { daemonSetKind } from '../../../api/kinds/apps/daemon-set.ts';
import { shortHash } from '../../pods/hash.ts';
import { inRevisionOrder, nextRevisionNumber, sameData, templatePatch } from '../../pods/revisions.ts';
import { controllerReference } from '../../pods/template.ts';
import type { DaemonSetAction, RevisionDraft } from './actions.ts';
import { HASH_LABEL } from './daemon-pod.ts';

export interface History {
  /** Of the current template: pods with this label are up to date. */
  readonly hash: string;
  /** How often another template had the name of a revision. */
  readonly collisionCount: number | undefined;
  /** Oldest first. */
  readonly old: readonly Stored<ControllerRevision>[];
  /** Make the current template the newest revision, if it is not. Nothing else is decided until it is. */
  readonly actions: readonly DaemonSetAction[];
}

export interface RevisionsSnapshot {
  readonly revisions: readonly Stored<ControllerRevision>[];
  /** Any revision of this name in the namespace. */
  readonly named: (name: string) => Stored<ControllerRevision> | undefined;
  readonly pods: readonly Stored<Pod>[];
}

export function historyOf(set: Stored<DaemonSet>, { revisions, named, pods }: RevisionsSnapshot): History {
  const data = templatePatch(set.spec.template);
  const isCurrent = (revision: Stored<ControllerRevision>) => sameData(revision.data, data);
  const inOrder = inRevisionOrder(revisions);
  const old = inOrder.filter((revision) => !isCurrent(revision));
  const same = inOrder.filter(isCurrent);
  const current = same.at(-1);
  const number = nextRevisionNumber(old);
  if (current === undefined) return { ...newRevision(set, { data, number, named }), old };
  const hash = hashOf(current);
  const { collisionCount } = set.status;
  const renumbering: readonly DaemonSetAction[] = current.revision < number ? [{ do: 'renumberRevision', revision: current, number }] : [];
  return { hash, collisionCount, old, actions: [...mergeInto(hash, same.slice(0, -1), pods), ...renumbering] };
}

/** Of several revisions of the same template only one stays; pods of the others are relabelled. */
function mergeInto(hash: string, doubles: readonly Stored<ControllerRevision>[], pods: readonly Stored<Pod>[]): readonly DaemonSetAction[] {
  const hashes = new Set<string | undefined>(doubles.map(hashOf));
  hashes.delete(hash);
  const theirs = pods.filter(({ metadata }) => hashes.has(metadata.labels?.[HASH_LABEL]));
  return [
    ...theirs.map((pod): DaemonSetAction => ({ do: 'relabelPod', pod, hash })),
    ...doubles.map((revision): DaemonSetAction => ({ do: 'deleteRevision', revision })),
  ];
}

const hashOf = ({ metadata }: Stored<ControllerRevision>): string => metadata.labels?.[HASH_LABEL] ?? metadata.name;

interface NewRevision {
  readonly data: object;
  readonly number: number;
  readonly named: RevisionsSnapshot['named'];
}

/** Named by a hash of its contents, so that a retry makes the same one. If another template has that name, the next hash is tried. */
function newRevision(set: Stored<DaemonSet>, { data, number, named }: NewRevision): Pick<History, 'hash' | 'collisionCount' | 'actions'> {
  for (let { collisionCount } = set.status; ; collisionCount = (collisionCount ?? 0) + 1) {
    const hash = shortHash(set.spec.template, collisionCount);
    const name = `${set.metadata.name}-${hash}`;
    const taken = named(name);
    if (taken === undefined) return { hash, collisionCount, actions: [{ do: 'createRevision', revision: revisionDraft(set, { data, number, name, hash }) }] };
    if (sameData(taken.data, data)) return { hash, collisionCount, actions: [] };
  }
}

function revisionDraft(
  set: Stored<DaemonSet>,
  { data, number, name, hash }: Omit<NewRevision, 'named'> & { readonly name: string; readonly hash: string },
): RevisionDraft {
  const { namespace, annotations } = set.metadata;
  return {
    metadata: {
      namespace,
      name,
      labels: { ...set.spec.template.metadata.labels, [HASH_LABEL]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controllerReference(set, daemonSetKind)],
    },
    data,
    revision: number,
  };
}

/** Unused revisions beyond revisionHistoryLimit, oldest first. */
export function outdated(
  set: Stored<DaemonSet>,
  old: readonly Stored<ControllerRevision>[],
  pods: readonly Stored<Pod>[],
): readonly Stored<ControllerRevision>[] {
  const surplus = old.length - (set.spec.revisionHistoryLimit ?? 0);
  const live = new Set(pods.map(({ metadata }) => metadata.labels?.[HASH_LABEL]));
  return surplus <= 0 ? [] : old.filter((revision) => !live.has(hashOf(revision))).slice(0, surplus);
}
