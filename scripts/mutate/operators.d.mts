export interface Mutant {
  readonly operator: string;
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly original: string;
  readonly replace: string;
  readonly form: 'expression' | 'statements' | 'elements' | 'property';
  /** For the end of the file. */
  readonly appended?: string;
  readonly probe?: (note: string) => string;
  /** 0 is preferred to 1. */
  readonly rank: number;
  /** The how manieth place of the operator with the same text. */
  readonly nth: number;
}

export const operatorNames: readonly string[];
export function mutantsOf(file: string, text: string): readonly Mutant[];
export function mutate(text: string, mutant: Pick<Mutant, 'start' | 'end' | 'appended'>, replace: string): string;
export function noted(mutant: Mutant, note: string): string;
export function chosen(mutant: Mutant, condition: string): string;
