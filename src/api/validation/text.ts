/** How many bytes a string has in UTF-8. */
export const byteLength = (text: string): number => Buffer.byteLength(text);

export const tooManyCharacters = (limit: number): string => `must be no more than ${limit} characters`;
export const tooManyBytes = (limit: number): string => `must be no more than ${limit} bytes`;
export const outOfRange = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`;
export const mustNotBeEmpty = 'must be non-empty';

/** "… (e.g. 'a', or 'b', regex used for validation is '…')" */
export function mismatch(message: string, format: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${format}')`;
  return `${message} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${format}')`;
}
