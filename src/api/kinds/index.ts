import { apiVersionOf, untypedKind, type Kind } from '../kind.ts';
import { admissionKinds } from './admissionregistration/index.ts';
import { apiServiceKind } from './apiregistration/api-service.ts';
import { autoscalingKinds } from './autoscaling/index.ts';
import { storageAndCoreKinds } from './core-and-storage-kinds.ts';
import { flowcontrolKinds } from './flowcontrol/index.ts';
import { podAddressKind } from './mooring/pod-address.ts';
import { volumeIntentKind } from './mooring/volume-intent.ts';
import { networkingKinds } from './networking/index.ts';
import { rbacKinds } from './rbac/index.ts';
import { resourceKinds } from './resource/index.ts';
import { runtimeClassKind } from './node/runtime-class.ts';
import { predefinedKinds } from './predefined-kinds.ts';
import { workloadKinds } from './workload-kinds.ts';

export { storageAndCoreKinds };

/** Every kind of Kubernetes that is served. */
export const kubernetesKinds: readonly Kind[] = [
  ...storageAndCoreKinds,
  ...workloadKinds,
  ...rbacKinds,
  ...admissionKinds,
  ...networkingKinds,
  ...autoscalingKinds,
  ...flowcontrolKinds,
  ...resourceKinds,
  untypedKind(runtimeClassKind),
  untypedKind(apiServiceKind),
];

/** Every kind that is served: Kubernetes' and our own, which `--plain` hides from clients. */
export const allKinds: readonly Kind[] = [...kubernetesKinds, untypedKind(volumeIntentKind)];

/** The same, and views of stored objects that clients only read. */
export const servedKinds: readonly Kind[] = [...allKinds, untypedKind(podAddressKind)];

/** The kinds that controllers of every kind follow: also those that are served by predefined definitions. */
export const followedKinds: readonly Kind[] = [...allKinds, ...predefinedKinds];

const addressedKinds: readonly Kind[] = [...followedKinds, untypedKind(podAddressKind)];
const byResource = new Map(addressedKinds.map((kind) => [`${apiVersionOf(kind)}/${kind.plural}`, kind]));
const byName = new Map(addressedKinds.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, kind]));

/** The kind behind a path: `kindFor('storage.k8s.io', 'v1', 'storageclasses')`. */
export function kindFor(group: string, version: string, plural: string): Kind | undefined {
  return byResource.get(`${apiVersionOf({ group, version })}/${plural}`);
}

/** The kind of an object: `kindByName('storage.k8s.io/v1', 'StorageClass')`. */
export function kindByName(apiVersion: string, kind: string): Kind | undefined {
  return byName.get(`${apiVersion}/${kind}`);
}
