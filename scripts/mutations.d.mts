export interface Mutation {
  readonly name: string;
  readonly number: string;
  /** What the bug does. */
  readonly breaks: string;
  /** The invariant that should notice. */
  readonly caughtBy: string;
  /** What the simulator lacked before it noticed. */
  readonly note?: string;
  /** Only these worlds have the code: those with CSI drivers behind sockets, with a cloud, or of two API servers; absent: all. */
  readonly worlds?: 'csi' | 'clouds' | 'servers';
  readonly edits: readonly MutationEdit[];
}

export interface MutationEdit {
  readonly file: string;
  /** Code that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

export function readMutations(): readonly Mutation[];
export function misfits(mutations: readonly Mutation[]): readonly string[];
export function hunt(
  mutation: Mutation | undefined,
  seeds: { readonly to: number; readonly first?: number | undefined },
): Promise<{ readonly seed: number; readonly invariant: string; readonly what: string } | { readonly survived: number }>;
