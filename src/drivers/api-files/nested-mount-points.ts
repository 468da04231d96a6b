import type { Pod } from '../../api/generated/types.ts';
import type { HostFiles } from '../../world/mounts.ts';

/** Other volumes that containers mount inside of this one need directories there; nobody else can make them in a volume of files. */
export async function makeNestedMountPoints(files: HostFiles, root: string, { volume, pod }: { readonly volume: string; readonly pod: Pod }): Promise<void> {
  for (const place of nestedMountPoints(volume, pod)) await files.makeDirectory(`${root}/${place}`, 0o755);
}

/** Relative to the volume's root. */
export function nestedMountPoints(volume: string, { spec: { containers, initContainers = [] } }: Pick<Pod, 'spec'>): readonly string[] {
  const places = new Set<string>();
  for (const { volumeMounts = [] } of [...initContainers, ...(containers ?? [])]) {
    const own = volumeMounts.filter(({ name, subPath, subPathExpr }) => name === volume && (subPath ?? subPathExpr ?? '') === '');
    for (const { mountPath } of own) {
      const base = `${mountPath.replace(/\/+$/, '')}/`;
      const inside = volumeMounts.filter((mount) => mount.mountPath.startsWith(base) && mount.mountPath.length > base.length);
      for (const each of inside) {
        const place = each.mountPath.slice(base.length).replace(/\/+$/, '');
        if (!place.split('/').includes('..')) places.add(place);
      }
    }
  }
  return [...places].filter((place) => ![...places].some((other) => place.startsWith(`${other}/`)));
}
