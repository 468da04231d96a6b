export interface Patch {
  readonly name: string;
  readonly number: string;
  readonly path: string;
  readonly breaks: string;
  /** The invariant that should notice. */
  readonly caughtBy: string;
  readonly note: string | undefined;
}

export function readPatches(): readonly Patch[];
export function misfits(patches: readonly Patch[]): Promise<readonly string[]>;
export function hunt(
  patch: Patch | undefined,
  seeds: { readonly from?: number; readonly to: number },
): Promise<{ readonly seed: number; readonly invariant: string; readonly what: string } | { readonly survived: number }>;
