import { customKinds } from '../apiextensions/custom-kind.ts';
import type { CustomResourceDefinition } from '../apiextensions/definition.ts';
import type { Kind } from '../kind.ts';
import { referenceGrantDefinition } from './data-source/reference-grant.ts';
import { volumePopulatorDefinition } from './data-source/volume-populator.ts';
import { volumeGroupSnapshotClassDefinition, volumeGroupSnapshotContentDefinition, volumeGroupSnapshotDefinition } from './snapshot/volume-group-snapshot.ts';
import { volumeSnapshotClassDefinition, volumeSnapshotContentDefinition, volumeSnapshotDefinition } from './snapshot/volume-snapshot.ts';

/**
 * Definitions that every server has without a stored CustomResourceDefinition. A stored one of the same name takes their place as long as it exists:
 * an operator may apply upstream's files (docs/decisions/0022-snapshot-kinds.md).
 */
export const predefinedDefinitions: readonly CustomResourceDefinition[] = [
  volumeSnapshotDefinition,
  volumeSnapshotContentDefinition,
  volumeSnapshotClassDefinition,
  volumeGroupSnapshotDefinition,
  volumeGroupSnapshotContentDefinition,
  volumeGroupSnapshotClassDefinition,
  volumePopulatorDefinition,
  referenceGrantDefinition,
];

/** Their groups: writes check CEL rules and patterns, which need their libraries. */
export const predefinedGroups: readonly string[] = [...new Set(predefinedDefinitions.map(({ spec }) => spec.group))];

/** Their kinds, in every served version; for controllers that work on all kinds. */
export const predefinedKinds: readonly Kind[] = predefinedDefinitions.flatMap((definition) => customKinds(definition).served);
