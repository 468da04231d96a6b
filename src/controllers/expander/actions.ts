import type { PersistentVolumeClaim } from '../../api/generated/types.ts';

export type Action =
  /** Writes the claim's annotations, by way of its status: nobody who only resizes needs to write more. */
  | { readonly do: 'annotate'; readonly claim: PersistentVolumeClaim }
  | { readonly do: 'tell'; readonly claim: PersistentVolumeClaim; readonly message: string }
  /** What the claim asked for when it was last looked at. */
  | { readonly do: 'remember'; readonly claim: PersistentVolumeClaim; readonly asked: Asked };

export interface Asked {
  readonly request: string;
  readonly capacity: string;
}

export interface Decision {
  /** Any prefix may be all that happens. */
  readonly actions: readonly Action[];
  readonly reasons: readonly Reason[];
}

export interface Reason {
  readonly code: string;
  readonly text: string;
  readonly next: 'external resizer' | 'binder' | 'node' | 'user' | 'nobody';
}
