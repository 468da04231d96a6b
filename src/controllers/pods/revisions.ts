/** The history of a pod template: ControllerRevisions, each of which holds a patch that restores one version. */
import type { ControllerRevision, PodTemplateSpec } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { sortedJson } from '../../api/sorted-json.ts';

/** The patch with which `kubectl rollout undo` restores this template. Its keys are sorted, as Kubernetes writes it: clients compare the text. */
export function templatePatch(template: PodTemplateSpec): object {
  let patch = patches.get(template);
  if (patch === undefined) patches.set(template, (patch = JSON.parse(sortedJson({ spec: { template: { $patch: 'replace', ...template } } })) as object));
  return patch;
}

const patches = new WeakMap<PodTemplateSpec, object>();

/** Whether two revisions hold the same template. */
export const sameData = (a: unknown, b: unknown): boolean => a === b || textOf(a) === textOf(b);

/** Cached objects are frozen and compared in every pass: each is serialized once. */
const texts = new WeakMap<object, string>();

function textOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return sortedJson(data);
  let text = texts.get(data);
  if (text === undefined) texts.set(data, (text = sortedJson(data)));
  return text;
}

/** Oldest first. */
export const inRevisionOrder = (revisions: readonly Stored<ControllerRevision>[]): readonly Stored<ControllerRevision>[] =>
  [...revisions].sort(compareRevisions);

function compareRevisions(a: Stored<ControllerRevision>, b: Stored<ControllerRevision>): number {
  return (
    a.revision - b.revision ||
    compareTexts(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
    compareTexts(a.metadata.name, b.metadata.name)
  );
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** `inOrder`: oldest first. */
export const nextRevisionNumber = (inOrder: readonly ControllerRevision[]): number => (inOrder.at(-1)?.revision ?? 0) + 1;
