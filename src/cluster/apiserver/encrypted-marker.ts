/** A key that exists since the first start with an encryption configuration: without it the store has no encrypted values. */
export const encryptedMarker = '/mooring/encrypted-at-rest';
