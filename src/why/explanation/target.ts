/** The object to explain. */
export interface Target {
  readonly kind: TargetKind;
  /** Only for claims and pods. */
  readonly namespace?: string;
  readonly name: string;
}

export type TargetKind = 'pvc' | 'pv' | 'pod' | 'va';

/** As kubectl takes them. */
const spellings: Readonly<Record<TargetKind, readonly string[]>> = {
  pvc: ['pvc', 'persistentvolumeclaim', 'persistentvolumeclaims', 'claim'],
  pv: ['pv', 'persistentvolume', 'persistentvolumes', 'volume'],
  pod: ['pod', 'pods', 'po'],
  va: ['va', 'volumeattachment', 'volumeattachments', 'attachment'],
};
const kinds = new Map(Object.entries(spellings).flatMap(([kind, words]) => words.map((word): [string, TargetKind] => [word, kind as TargetKind])));

export const targetUsage = 'pvc/NAME, pv/NAME, pod/NAME or va/NAME';

/** 'pvc/data' or 'pvc', 'data'; kinds also as kubectl prints them: 'persistentvolumeclaim/data', 'volumeattachment.storage.k8s.io/x'. Text: what is wrong. */
export function parseTarget(words: readonly string[], namespace: string): Target | string {
  const [written = '', name = '', ...rest] = words.join('/').split('/');
  const kind = kinds.get(written.toLowerCase().replace(/\.storage\.k8s\.io$/, ''));
  if (kind === undefined) return `the target is ${targetUsage}, not "${words.join(' ')}"`;
  if (name === '' || rest.length > 0) return `the target has one name: ${kind}/NAME, not "${words.join(' ')}"`;
  return isNamespaced(kind) ? { kind, namespace, name } : { kind, name };
}

export const isNamespaced = (kind: TargetKind): boolean => kind === 'pvc' || kind === 'pod';

/** 'pvc/data' */
export const shortName = ({ kind, name }: Target): string => `${kind}/${name}`;
