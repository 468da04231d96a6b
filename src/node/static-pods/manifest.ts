/** A static pod: the manifest of a file of the node, as the pod that the API server is told of (v1.36.4: pkg/kubelet/config/common.go, applyDefaults). */
import type { Pod } from '../../api/generated/types.ts';
import { MIRROR_POD } from '../../api/kinds/pod/pod-annotations.ts';
import { readYaml } from '../../api/yaml.ts';

export interface StaticPod {
  /** 'namespace/name' of its mirror pod. */
  readonly key: string;
  /** Another file, node or content has another one. */
  readonly hash: string;
  readonly pod: Pod;
}

export interface ManifestContext {
  readonly path: string;
  readonly node: string;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

const [hashAnnotation, sourceAnnotation] = ['kubernetes.io/config.hash', 'kubernetes.io/config.source'];

/** Its pods stay when the node is tainted: no other node can run them. */
const toleration = { operator: 'Exists', effect: 'NoExecute' } as const;

/** @throws Error that says what is wrong with it */
export function staticPod(bytes: Uint8Array, { path, node, sha256 }: ManifestContext): StaticPod {
  const { value } = readYaml(bytes);
  const { apiVersion, kind, metadata, spec } = recordOf(value) ?? {};
  if (apiVersion !== 'v1' || kind !== 'Pod') throw new Error(`it is no Pod of v1, but ${String(kind)} of ${String(apiVersion)}`);
  const [given, body] = [recordOf(metadata) ?? {}, recordOf(spec)];
  const { name, namespace = 'default', labels, annotations } = given;
  if (typeof name !== 'string' || name === '') throw new Error('metadata.name: a static pod needs a name');
  if (typeof namespace !== 'string') throw new Error('metadata.namespace: it is a text');
  if (body === undefined) throw new Error('spec: a static pod needs one');
  const hash = sha256(JSON.stringify([node, path, value])).slice(0, hashLength);
  const tolerations = Array.isArray(body['tolerations']) ? body['tolerations'] : [];
  const own = `${name}-${node}`;
  return {
    key: `${namespace}/${own}`,
    hash,
    // What it says beyond that is checked by the API server.
    pod: {
      apiVersion,
      kind,
      metadata: {
        name: own,
        namespace,
        ...(labels === undefined ? {} : { labels }),
        annotations: { ...recordOf(annotations), [hashAnnotation]: hash, [sourceAnnotation]: 'file', [MIRROR_POD]: hash },
      },
      spec: { ...body, nodeName: node, tolerations: [...(tolerations as readonly unknown[]), toleration] },
    } as unknown as Pod,
  };
}

/** As long as the kubelet's. */
const hashLength = 32;

const recordOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
