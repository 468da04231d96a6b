/** A regular expression in RE2's syntax, as a tree. */
export type Node =
  | { readonly type: 'empty' }
  | { readonly type: 'character'; readonly accepts: CharacterTest }
  | { readonly type: 'assertion'; readonly assertion: Assertion }
  | { readonly type: 'sequence'; readonly parts: readonly Node[] }
  | { readonly type: 'choice'; readonly options: readonly Node[] }
  | { readonly type: 'repeat'; readonly of: Node; readonly min: number; readonly max: number; readonly greedy: boolean };

/** Whether a code point is one of those meant. */
export type CharacterTest = (codePoint: number) => boolean;

export type Assertion = 'text-start' | 'text-end' | 'line-start' | 'line-end' | 'word-boundary' | 'no-word-boundary';

/** What is wrong with a pattern, in the words of Go's regexp. */
export class PatternError extends Error {
  override readonly name = 'PatternError';

  constructor(problem: string, at: string) {
    super(`error parsing regexp: ${problem}: \`${at}\``);
  }
}
