import { apiVersionOf, type Kind } from '../kind.ts';
import { storageAndCoreKinds } from './core-and-storage.ts';
import { workloadKinds } from './workloads/index.ts';

export { storageAndCoreKinds };

/** Every kind that is served. */
export const allKinds: readonly Kind[] = [...storageAndCoreKinds, ...workloadKinds];

const byResource = new Map(allKinds.map((kind) => [`${apiVersionOf(kind)}/${kind.plural}`, kind]));
const byName = new Map(allKinds.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, kind]));

/** The kind behind a path: `kindFor('storage.k8s.io', 'v1', 'storageclasses')`. */
export function kindFor(group: string, version: string, plural: string): Kind | undefined {
  return byResource.get(`${apiVersionOf({ group, version })}/${plural}`);
}

/** The kind of an object: `kindByName('storage.k8s.io/v1', 'StorageClass')`. */
export function kindByName(apiVersion: string, kind: string): Kind | undefined {
  return byName.get(`${apiVersion}/${kind}`);
}
