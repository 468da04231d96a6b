import type { Pod } from '../../api/generated/types.ts';
import type { HostFiles } from '../../world/mounts.ts';

/** Creates the mount points of volumes that containers mount inside of this one (MakeNestedMountpoints): the volume is read-only for containers. */
export async function makeNestedMountPoints(files: HostFiles, root: string, { volume, pod }: { readonly volume: string; readonly pod: Pod }): Promise<void> {
  for (const path of nestedMountPoints(volume, pod)) await files.makeDirectory(`${root}/${path}`, 0o755);
}

/** Relative to the volume's root. */
export function nestedMountPoints(volume: string, { spec: { containers, initContainers = [] } }: Pick<Pod, 'spec'>): readonly string[] {
  const paths = new Set<string>();
  for (const { volumeMounts = [] } of [...initContainers, ...(containers ?? [])]) {
    const own = volumeMounts.filter(({ name, subPath, subPathExpr }) => name === volume && (subPath ?? subPathExpr ?? '') === '');
    for (const { mountPath } of own) {
      const base = `${mountPath.replace(/\/+$/, '')}/`;
      const inside = volumeMounts.filter((mount) => mount.mountPath.startsWith(base) && mount.mountPath.length > base.length);
      for (const each of inside) {
        const path = each.mountPath.slice(base.length).replace(/\/+$/, '');
        if (!path.split('/').includes('..')) paths.add(path);
      }
    }
  }
  return [...paths].filter((path) => ![...paths].some((other) => path.startsWith(`${other}/`)));
}
