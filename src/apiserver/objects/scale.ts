import type { Scale } from '../../api/generated/types.ts';
import type { ScalePaths } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';

/** The Scale (autoscaling/v1) that an object's /scale subresource shows. */
export function scaleOf(paths: ScalePaths<KubeObject>, { metadata, ...object }: KubeObject): Scale {
  const whole = { ...object, metadata };
  const selector = paths.selector(whole);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: Object.fromEntries(Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp }).filter(([, value]) => value !== undefined)),
    spec: replicasOf(paths.replicas(whole)),
    status: { replicas: paths.statusReplicas(whole), ...(selector === '' ? {} : { selector }) },
  };
}

const replicasOf = (replicas: number): Scale['spec'] => (replicas === 0 ? {} : { replicas });
