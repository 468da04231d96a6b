import { sortedJson } from '../../api/sorted-json.ts';

/**
 * Hashes for names: `web-6d4cf56db6`. The digits of a 32-bit FNV hash, encoded with letters and digits that form no words (Kubernetes'
 * rand.SafeEncodeString). The contents are hashed as JSON with sorted keys, so equal objects have equal hashes.
 */
export function shortHash(contents: unknown, collisionCount?: number): string {
  const text = sortedJson(contents) + (collisionCount === undefined ? '' : String(collisionCount));
  return safeEncode(String(fnv1a(text)));
}

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

const safeEncode = (text: string): string => text.replaceAll(/[^]/g, (c) => alphabet.charAt(c.charCodeAt(0) % alphabet.length));

/** 32 bits, over the UTF-16 code units of a text. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}
