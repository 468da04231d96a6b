/**
 * Fencing (docs/ARCHITECTURE.md): every Lease has an epoch key beside it, rewritten in the transaction that changes the Lease's
 * holder and in no other (side-records.ts). The key's revision is the holder's epoch, and equals the resourceVersion of the Lease
 * that this write returned. A write under a fence compares the key, so a deposed leader cannot write, however slow its clock.
 *
 * `lease`: 'kube-system/moor-controllers'. The key lies outside /registry/: it is no object.
 */
export const epochKey = (lease: string): string => `/mooring/epochs/${lease}`;
