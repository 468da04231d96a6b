import type { Kind } from '../kind.ts';
import { storageAndCoreKinds } from './core-and-storage.ts';
import { workloadKinds } from './workloads/index.ts';

/** Every kind that is served. */
export const allKinds: readonly Kind[] = [...storageAndCoreKinds, ...workloadKinds];
