/** Objects as the timelines of `moor simulate` and the dashboard name them. */
import type { KubeObject } from '../../api/object.ts';

/** The short names of kubectl: pvc, pv, pod. */
const words: Readonly<Record<string, string>> = { PersistentVolumeClaim: 'pvc', PersistentVolume: 'pv', VolumeAttachment: 'va' };
const wordFor = (kind: string): string => words[kind] ?? kind.toLowerCase();

/** 'pod/web-0', 'pvc/data -n shop' */
export function nameOf({ kind, metadata: { name = '', namespace = '' } }: Pick<KubeObject, 'kind' | 'metadata'>): string {
  return `${wordFor(kind)}/${name}${namespace === '' || namespace === 'default' ? '' : ` -n ${namespace}`}`;
}
