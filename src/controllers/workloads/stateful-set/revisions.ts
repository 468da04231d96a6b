/** The revisions of a StatefulSet's template: history, current and update revision. */
import type { ControllerRevision, PodTemplateSpec, StatefulSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { statefulSetKind } from '../../../api/kinds/apps/stateful-set.ts';
import { applyStrategicPatch } from '../../../api/patch/strategic-patch.ts';
import { decode } from '../../../api/schema/decode.ts';
import { shortHash } from '../../pods/hash.ts';
import { inRevisionOrder, nextRevisionNumber, sameData, templatePatch } from '../../pods/revisions.ts';
import type { StatefulSetAction, RevisionDraft } from './actions.ts';
import { setReference } from './identity.ts';

/** A template, and the name of its ControllerRevision. */
export interface TemplateRevision {
  readonly revision: string;
  readonly template: PodTemplateSpec;
}

export interface History {
  /** The revision before the last change of the template; the same as `update` once all pods are updated. */
  readonly current: TemplateRevision;
  readonly update: TemplateRevision;
  /** How often another template had the name of a revision. */
  readonly collisionCount: number;
  /** Make `update` the newest revision, if it is not. */
  readonly actions: readonly StatefulSetAction[];
}

export interface Revisions {
  /** Controlled by the StatefulSet. */
  readonly own: readonly Stored<ControllerRevision>[];
  /** Any revision of this name in the namespace. */
  readonly named: (name: string) => Stored<ControllerRevision> | undefined;
}

export function historyOf(set: Stored<StatefulSet>, { own, named }: Revisions): History {
  const revisions = inRevisionOrder(own);
  const data = templatePatch(set.spec.template);
  const counted = set.status.collisionCount ?? 0;
  const found = existingUpdate(set, revisions, data) ?? newUpdate(set, { data, number: nextRevisionNumber(revisions), collisionCount: counted, named });
  const update: TemplateRevision = { revision: found.name, template: set.spec.template };
  const before = revisions.find(({ metadata }) => metadata.name === set.status.currentRevision);
  const current = before === undefined || before.metadata.name === found.name ? update : stateAt(set, before);
  return { current, update, collisionCount: found.collisionCount ?? counted, actions: found.actions };
}

interface Found {
  readonly name: string;
  readonly collisionCount?: number;
  readonly actions: readonly StatefulSetAction[];
}

/** The newest one if nothing changed; an older one, renumbered, if the template was rolled back to it. */
function existingUpdate(set: StatefulSet, revisions: readonly Stored<ControllerRevision>[], data: object): Found | undefined {
  const newest = revisions.at(-1);
  const equal = revisions.findLast((revision) => sameData(revision.data, data));
  if (newest === undefined) return undefined;
  if (equal === undefined) return isSemanticallyEqual(set, newest) ? { name: nameOf(newest), actions: [] } : undefined;
  if (sameData(equal.data, newest.data)) return { name: nameOf(newest), actions: [] };
  return { name: nameOf(equal), actions: [{ do: 'update', object: { ...equal, revision: nextRevisionNumber(revisions) }, from: equal }] };
}

/** A release with fewer defaults wrote the revision: that must not replace all pods. */
function isSemanticallyEqual(set: StatefulSet, revision: Stored<ControllerRevision>): boolean {
  const restored: StatefulSet = { ...structuredClone(set), spec: { ...structuredClone(set.spec), template: stateAt(set, revision).template } };
  statefulSetKind.defaults?.(restored);
  return sameData(templatePatch(restored.spec.template), templatePatch(set.spec.template));
}

interface NewRevision {
  readonly data: object;
  readonly number: number;
  readonly collisionCount: number;
  readonly named: Revisions['named'];
}

/** Named by a hash of its contents, so that a retry makes the same one. If another template has that name, the next hash is tried. */
function newUpdate(set: Stored<StatefulSet>, { data, number, collisionCount, named }: NewRevision): Found {
  for (let count = collisionCount; ; count++) {
    const draft = revisionDraft(set, { data, number, hash: shortHash(data, count) });
    const name = draft.metadata?.name ?? '';
    const taken = named(name);
    if (taken === undefined) return { name, collisionCount: count, actions: [{ do: 'createRevision', revision: draft }] };
    if (sameData(taken.data, data)) return { name, collisionCount: count, actions: [] };
  }
}

function revisionDraft(
  set: Stored<StatefulSet>,
  { data, number, hash }: { readonly data: object; readonly number: number; readonly hash: string },
): RevisionDraft {
  const { namespace, name, annotations } = set.metadata;
  return {
    metadata: {
      namespace,
      name: `${name.slice(0, longestPrefix)}-${hash}`,
      labels: { ...set.spec.template.metadata.labels, [hashLabel]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [setReference(set)],
    },
    data,
    revision: number,
  };
}

const hashLabel = 'controller.kubernetes.io/hash';
/** Leaves room for the hash in a name of 253 characters. */
const longestPrefix = 223;

function stateAt(set: StatefulSet, revision: Stored<ControllerRevision>): TemplateRevision {
  const patched = applyStrategicPatch('StatefulSet', { ...set }, (revision.data ?? {}) as Record<string, unknown>);
  return { revision: nameOf(revision), template: decode<StatefulSet>('StatefulSet', patched).object.spec.template };
}

const nameOf = ({ metadata }: Stored<ControllerRevision>): string => metadata.name;

/** Unused revisions beyond revisionHistoryLimit, oldest first. */
export function outdated(
  set: Stored<StatefulSet>,
  own: readonly Stored<ControllerRevision>[],
  live: ReadonlySet<string>,
): readonly Stored<ControllerRevision>[] {
  const limit = set.spec.revisionHistoryLimit ?? 0;
  if (limit < 0) return [];
  const history = inRevisionOrder(own.filter((revision) => !live.has(nameOf(revision))));
  return history.slice(0, Math.max(0, history.length - limit));
}
