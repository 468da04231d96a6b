import type { Decision, ObjectWrite } from '../../client/decision.ts';

export type ProtectionAction =
  /** Adds the finalizer, or removes it. */
  | ObjectWrite
  /** Asks the server, not the caches, whether the object is used; if so, the list ends. */
  | { readonly do: 'confirm-unused' };

export type ProtectionDecision = Decision<ProtectionAction>;
