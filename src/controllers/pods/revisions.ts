/** The history of a pod template: ControllerRevisions, each a patch that brings one state of the template back. */
import type { ControllerRevision, PodTemplateSpec } from '../../api/generated/types.ts';
import { sortedJson } from './hash.ts';

/** The patch with which `kubectl rollout undo` goes back to this template. */
export function templatePatch(template: PodTemplateSpec): object {
  let patch = patches.get(template);
  if (patch === undefined) patches.set(template, (patch = { spec: { template: { $patch: 'replace', ...template } } }));
  return patch;
}

const patches = new WeakMap<PodTemplateSpec, object>();

/** The same state, however it is written down. */
export const sameData = (a: unknown, b: unknown): boolean => a === b || textOf(a) === textOf(b);

/** Objects of a cache are frozen and kept, and compared in every pass: each is written out once. */
const texts = new WeakMap<object, string>();

function textOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return sortedJson(data);
  let text = texts.get(data);
  if (text === undefined) texts.set(data, (text = sortedJson(data)));
  return text;
}

/** Oldest first. */
export const inRevisionOrder = (revisions: readonly ControllerRevision[]): readonly ControllerRevision[] => [...revisions].sort(compareRevisions);

function compareRevisions(a: ControllerRevision, b: ControllerRevision): number {
  return (
    a.revision - b.revision ||
    compareTexts(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
    compareTexts(a.metadata.name ?? '', b.metadata.name ?? '')
  );
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** One more than the newest has. `inOrder`: oldest first. */
export const nextRevisionNumber = (inOrder: readonly ControllerRevision[]): number => (inOrder.at(-1)?.revision ?? 0) + 1;
