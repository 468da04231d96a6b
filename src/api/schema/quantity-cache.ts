import { GenerationCache } from '../generation-cache.ts';
import { canonicalQuantity, QuantityError } from '../quantity.ts';
import { DecodeError } from './decode-state.ts';

/** The same few quantities come again and again. */
const cache = new GenerationCache<string>(2000);
const maxLength = 24;

/** @throws DecodeError */
export function canonicalQuantityCached(text: string): string {
  const known = cache.get(text);
  if (known !== undefined) return known;
  // Kubernetes trims the text as it stands in the document, where control characters are escapes.
  const canonical = canonicalOrThrow(/\p{Cc}/u.test(text) ? text : text.trim());
  if (text.length <= maxLength) cache.set(text, canonical);
  return canonical;
}

function canonicalOrThrow(text: string): string {
  try {
    return canonicalQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) throw new DecodeError(error.message);
    throw error;
  }
}
