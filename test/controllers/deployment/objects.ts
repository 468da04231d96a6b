/** Deployments and ReplicaSets for tests. */
import type { Deployment, PodTemplateSpec, ReplicaSet } from '../../../src/api/generated/types.ts';
import type { Stored } from '../../../src/api/stored.ts';

/** The current time in all tests. */
export const now = Date.parse('2026-01-01T12:00:00Z');
export const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString().replace('.000Z', 'Z');

export const labels = { app: 'web' };

/** Templates differ by their image. */
export const template = (image: string, hash?: string): PodTemplateSpec => ({
  metadata: { labels: hash === undefined ? labels : { ...labels, 'pod-template-hash': hash } },
  spec: { containers: [{ name: 'app', image, resources: {} }] },
});

export interface DeploymentParts {
  readonly image?: string;
  readonly surge?: number | string;
  readonly unavailable?: number | string;
  readonly annotations?: Record<string, string>;
  readonly spec?: Partial<Deployment['spec']>;
  readonly status?: Deployment['status'];
  readonly metadata?: object;
}

export function deployment(replicas: number, parts: DeploymentParts = {}): Stored<Deployment> {
  const { image = 'new', surge = 0, unavailable = 0, annotations, spec, status = {}, metadata } = parts;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'team',
      uid: 'deployment',
      resourceVersion: '1',
      generation: 1,
      ...(annotations === undefined ? {} : { annotations }),
      ...metadata,
    },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: template(image),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: surge, maxUnavailable: unavailable } },
      ...spec,
    },
    status,
  };
}

export interface SetParts {
  readonly image?: string;
  /** The desired-replicas and max-replicas annotations. */
  readonly desired?: number;
  readonly most?: number;
  readonly available?: number;
  readonly age?: number;
  readonly revision?: string;
  readonly annotations?: Record<string, string>;
  readonly metadata?: object;
  readonly status?: Partial<ReplicaSet['status']>;
}

const prefix = 'deployment.kubernetes.io/';

/** Owned by the Deployment, with all its pods. */
export function replicaSet(name: string, replicas: number, parts: SetParts = {}): Stored<ReplicaSet> {
  const { image = 'old', desired, most = desired, available = replicas, age = 0, revision, annotations = {}, metadata, status } = parts;
  const all = {
    ...(desired === undefined ? {} : { [`${prefix}desired-replicas`]: String(desired) }),
    ...(most === undefined ? {} : { [`${prefix}max-replicas`]: String(most) }),
    ...(revision === undefined ? {} : { [`${prefix}revision`]: revision }),
    ...annotations,
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name,
      namespace: 'team',
      uid: name,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: ago(age),
      labels: { ...labels, 'pod-template-hash': name },
      annotations: all,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'deployment', controller: true, blockOwnerDeletion: true }],
      ...metadata,
    },
    spec: { replicas, selector: { matchLabels: { ...labels, 'pod-template-hash': name } }, template: template(image, name) },
    status: { replicas, readyReplicas: available, availableReplicas: available, terminatingReplicas: 0, observedGeneration: 1, ...status },
  };
}
