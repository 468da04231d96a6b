import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeSource } from '../../api/generated/types.ts';
import type { EventText, Write } from '../../domain/volumes/decision.ts';
import type { ExpandOutcome } from '../../domain/volumes/driver-facts.ts';

/** All that the expander may do to the world. */
export type Action =
  /** Of claims it writes statuses alone; annotations go along with them. */
  | Write<PersistentVolumeClaim>
  | Write<PersistentVolume>
  | ExpandVolume
  | { readonly do: 'tell'; readonly event: EventText }
  /** What the claim asked for when it was last looked at. */
  | { readonly do: 'remember'; readonly claim: PersistentVolumeClaim; readonly asked: Asked }
  /** What came of asking the driver; undefined: it is all said and written. */
  | { readonly do: 'rememberAttempt'; readonly claim: PersistentVolumeClaim; readonly attempt: Attempt | undefined };

/**
 * Asks the driver, and remembers the answer as an attempt. That it is asked is in the claim's status before (ControllerResizeInProgress and
 * allocatedResources, as in Kubernetes), so whoever comes after a crash asks again: a volume that has the size already keeps it.
 */
export interface ExpandVolume {
  readonly do: 'expandVolume';
  readonly claim: PersistentVolumeClaim;
  readonly driver: string;
  readonly source: PersistentVolumeSource;
  readonly size: string;
  /** How many attempts at this size failed so far. */
  readonly failures: number;
}

export interface Asked {
  readonly request: string;
  readonly capacity: string;
}

/** The last attempt to make a volume larger. Forgotten with the process: then the driver is asked once more. */
export type Attempt =
  /** Nothing has been made of the answer yet. */
  | { readonly type: 'answered'; readonly size: string; readonly outcome: ExpandOutcome; readonly failures: number }
  | { readonly type: 'failed'; readonly size: string; readonly final: boolean; readonly failures: number; readonly notBefore: number };

export interface Decision {
  /** Any prefix may be all that happens. */
  readonly actions: readonly Action[];
  readonly reasons: readonly Reason[];
  /** When to decide again although nothing changed; milliseconds since 1970. */
  readonly again?: number;
}

export interface Reason {
  readonly code: string;
  readonly text: string;
  readonly next: 'external resizer' | 'driver' | 'binder' | 'node' | 'user' | 'nobody';
  readonly driver?: string;
  readonly by?: number;
}

export const stay = (reason: Reason): Decision => ({ actions: [], reasons: [reason] });
