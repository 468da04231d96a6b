import type { VolumeAttachment } from '../../../api/generated/types.ts';

export type Action =
  /** Its finalizer, put there before anything is attached and taken away when nothing is. */
  | { readonly do: 'update'; readonly object: VolumeAttachment }
  /** `taking`: it takes one of the places that the node has. */
  | { readonly do: 'answer'; readonly object: VolumeAttachment; readonly taking: boolean };

export interface Decision {
  readonly actions: readonly Action[];
  readonly reasons: readonly { readonly code: string; readonly text: string }[];
}
