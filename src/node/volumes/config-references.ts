/** References to ConfigMaps and Secrets in a pod's volumes and variables. */
import type { ConfigMap, Container, Pod, Secret, Volume } from '../../api/generated/types.ts';

/** By 'namespace/name'. */
export interface ConfigLookup {
  configMap(key: string): ConfigMap | undefined;
  secret(key: string): Secret | undefined;
}

/** A ConfigMap or Secret, and the keys that it must have. */
export interface ConfigReference {
  readonly kind: 'configmap' | 'secret';
  readonly name: string;
  readonly keys: readonly string[];
  readonly optional: boolean;
}

export function configOfVolume({ configMap, secret, projected }: Volume): readonly ConfigReference[] {
  if (configMap !== undefined) return [reference('configmap', configMap.name, configMap)];
  if (secret !== undefined) return [reference('secret', secret.secretName, secret)];
  return (projected?.sources ?? []).flatMap((source) => [
    ...(source.configMap === undefined ? [] : [reference('configmap', source.configMap.name, source.configMap)]),
    ...(source.secret === undefined ? [] : [reference('secret', source.secret.name, source.secret)]),
  ]);
}

type ReferenceOptions = { readonly items?: readonly { readonly key: string }[]; readonly optional?: boolean };

const reference = (kind: ConfigReference['kind'], name: string | undefined, { items = [], optional = false }: ReferenceOptions): ConfigReference => ({
  kind,
  name: name ?? '',
  keys: items.map(({ key }) => key),
  optional,
});

export function configOfContainer({ envFrom = [], env = [] }: Container): readonly ConfigReference[] {
  return [
    ...envFrom.flatMap(({ configMapRef, secretRef }) => [
      ...(configMapRef === undefined ? [] : [reference('configmap', configMapRef.name, optionalOnly(configMapRef))]),
      ...(secretRef === undefined ? [] : [reference('secret', secretRef.name, optionalOnly(secretRef))]),
    ]),
    ...env.flatMap(({ valueFrom }) => [
      ...(valueFrom?.configMapKeyRef === undefined ? [] : [keyReference('configmap', valueFrom.configMapKeyRef)]),
      ...(valueFrom?.secretKeyRef === undefined ? [] : [keyReference('secret', valueFrom.secretKeyRef)]),
    ]),
  ];
}

const optionalOnly = ({ optional = false }: { readonly optional?: boolean }): ReferenceOptions => ({ optional });

const keyReference = (
  kind: ConfigReference['kind'],
  { name, key, optional = false }: { readonly name?: string; readonly key: string; readonly optional?: boolean },
): ConfigReference => ({ kind, name: name ?? '', keys: [key], optional });

const objectOf = ({ kind, name }: ConfigReference, namespace: string, files: ConfigLookup): ConfigMap | Secret | undefined =>
  kind === 'configmap' ? files.configMap(`${namespace}/${name}`) : files.secret(`${namespace}/${name}`);

const hasKey = (object: ConfigMap | Secret, key: string): boolean =>
  Object.hasOwn(object.data ?? {}, key) || ('binaryData' in object && Object.hasOwn(object.binaryData ?? {}, key));

const notFound = ({ kind, name }: ConfigReference): string => `${kind} ${JSON.stringify(name)} not found`;

/** Why a volume cannot be made of the object, in the kubelet's words; undefined: it can. */
export function missingConfig(wanted: ConfigReference, namespace: string, files: ConfigLookup): string | undefined {
  const object = objectOf(wanted, namespace, files);
  if (object === undefined) return wanted.optional ? undefined : notFound(wanted);
  if (wanted.optional) return undefined;
  const missing = wanted.keys.find((key) => !hasKey(object, key));
  if (missing === undefined) return undefined;
  return wanted.kind === 'configmap' ? `configmap references non-existent config key: ${missing}` : `references non-existent secret key: ${missing}`;
}

/** Why a container's variables cannot be set; undefined: they can. */
export function missingVariable(container: Container, { metadata: { namespace = '' } }: Pod, files: ConfigLookup): string | undefined {
  for (const wanted of configOfContainer(container)) {
    if (wanted.optional) continue;
    const object = objectOf(wanted, namespace, files);
    if (object === undefined) return notFound(wanted);
    const missing = wanted.keys.find((key) => !Object.hasOwn(object.data ?? {}, key));
    if (missing !== undefined) return `couldn't find key ${missing} in ${wanted.kind === 'configmap' ? 'ConfigMap' : 'Secret'} ${namespace}/${wanted.name}`;
  }
  return undefined;
}
