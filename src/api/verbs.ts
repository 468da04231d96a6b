import type { Verb } from './kind.ts';

/** What clients can do to all kinds but a few. */
export const everyVerb: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
