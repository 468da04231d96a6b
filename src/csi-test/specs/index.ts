import type { TestCase } from '../test-case.ts';
import { attachmentSpecs } from './attachments.ts';
import { expansionSpecs } from './expansion.ts';
import { groupSpecs } from './groups.ts';
import { identitySpecs } from './identity.ts';
import { listSpecs } from './lists.ts';
import { nodeSpecs } from './node.ts';
import { snapshotSpecs } from './snapshots.ts';
import { volumeSpecs } from './volumes.ts';

/** The table of specs, call by call. */
export const specs: readonly TestCase[] = [
  ...identitySpecs,
  ...volumeSpecs,
  ...listSpecs,
  ...attachmentSpecs,
  ...expansionSpecs,
  ...snapshotSpecs,
  ...groupSpecs,
  ...nodeSpecs,
];
