/** A key that is there since the first start with an encryption configuration: without it nobody has to look for encrypted values. */
export const encryptedMarker = '/mooring/encrypted-at-rest';
