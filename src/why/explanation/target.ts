/** The object to explain. */
export interface Target {
  readonly kind: TargetKind;
  /** Only for kinds that are in namespaces. */
  readonly namespace?: string;
  readonly name: string;
}

export type TargetKind = 'pvc' | 'pv' | 'pod' | 'va' | 'sts' | 'deploy' | 'job' | 'node' | 'sc' | 'driver' | 'ns' | 'quota' | 'vs';

/** As kubectl takes them. */
const spellings: Readonly<Record<TargetKind, readonly string[]>> = {
  pvc: ['pvc', 'persistentvolumeclaim', 'persistentvolumeclaims', 'claim'],
  pv: ['pv', 'persistentvolume', 'persistentvolumes', 'volume'],
  pod: ['pod', 'pods', 'po'],
  va: ['va', 'volumeattachment', 'volumeattachments', 'attachment'],
  sts: ['sts', 'statefulset', 'statefulsets'],
  deploy: ['deploy', 'deployment', 'deployments'],
  job: ['job', 'jobs'],
  node: ['node', 'nodes', 'no'],
  sc: ['sc', 'storageclass', 'storageclasses', 'class'],
  driver: ['driver', 'csidriver', 'csidrivers'],
  ns: ['ns', 'namespace', 'namespaces'],
  quota: ['quota', 'resourcequota', 'resourcequotas'],
  vs: ['vs', 'volumesnapshot', 'volumesnapshots', 'snapshot'],
};
const kinds = new Map(Object.entries(spellings).flatMap(([kind, words]) => words.map((word): [string, TargetKind] => [word, kind as TargetKind])));

export const targetUsage = 'pvc, pv, pod, va, sts, deploy, job, node, sc, driver, ns, quota or vs, with /NAME';

/** 'pvc/data' or 'pvc', 'data'; kinds also as kubectl prints them: 'persistentvolumeclaim/data', 'volumeattachment.storage.k8s.io/x'. Text: what is wrong. */
export function parseTarget(words: readonly string[], namespace: string): Target | string {
  const [written = '', name = '', ...rest] = words.join('/').split('/');
  const kind = kinds.get(written.toLowerCase().replace(/\.(?:(?:snapshot\.)?storage\.k8s\.io|apps|batch)$/, ''));
  if (kind === undefined) return `the target is ${targetUsage}, not "${words.join(' ')}"`;
  if (name === '' || rest.length > 0) return `the target has one name: ${kind}/NAME, not "${words.join(' ')}"`;
  return isNamespaced(kind) ? { kind, namespace, name } : { kind, name };
}

const namespaced: ReadonlySet<TargetKind> = new Set<TargetKind>(['pvc', 'pod', 'sts', 'deploy', 'job', 'quota', 'vs']);

export const isNamespaced = (kind: TargetKind): boolean => namespaced.has(kind);

/** As kubectl takes it: 'csidriver'. */
export const kubectlName = (kind: TargetKind): string => (kind === 'va' ? 'volumeattachment' : kind === 'driver' ? 'csidriver' : kind);

/** 'pvc/data' */
export const shortName = ({ kind, name }: Target): string => `${kind}/${name}`;
