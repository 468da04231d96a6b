import { createHash } from 'node:crypto';

/** Upper-case hexadecimal, as Kubernetes writes its ETags. */
export const sha512 = (text: string | Uint8Array): string => createHash('sha512').update(text).digest('hex').toUpperCase();

/** The first 8 bytes, in base64. */
export const shortSha256 = (text: string): string => createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
