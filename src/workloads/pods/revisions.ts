/** The history of a pod template: ControllerRevisions, each a patch that brings one state of the template back. */
import type { ControllerRevision, PodTemplateSpec } from '../../api/generated/types.ts';
import { sortedJson } from './hash.ts';

/** The patch with which `kubectl rollout undo` goes back to this template. */
export const templatePatch = (template: PodTemplateSpec): object => ({ spec: { template: { $patch: 'replace', ...template } } });

/** The same state, however it is written down. */
export const sameData = (a: unknown, b: unknown): boolean => sortedJson(a) === sortedJson(b);

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
