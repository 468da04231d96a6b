import type { Pod } from '../../api/generated/types.ts';
import { withoutTrailing } from '../../api/trailing.ts';
import type { HostFiles } from '../../world/mounts.ts';

/** Creates the mount points of volumes that containers mount inside of this one (MakeNestedMountpoints): the volume is read-only for containers. */
export async function makeNestedMountPoints(files: HostFiles, root: string, { volume, pod }: { readonly volume: string; readonly pod: Pod }): Promise<void> {
  for (const path of nestedMountPoints(volume, pod)) await files.makeDirectory(`${root}/${path}`, 0o755);
}

/** Relative to the volume's root. */
export function nestedMountPoints(volume: string, { spec: { containers, initContainers = [] } }: Pick<Pod, 'spec'>): readonly string[] {
  const paths = new Set<string>();
  for (const { volumeMounts = [] } of [...initContainers, ...(containers ?? [])]) {
    const mounts = volumeMounts.filter(({ mountPath }) => mountPath.length <= longestPath);
    const own = mounts.filter(({ name, subPath, subPathExpr }) => name === volume && (subPath ?? subPathExpr ?? '') === '');
    const roots = new Set(own.map(({ mountPath }) => withoutTrailing(mountPath, '/')));
    for (const { mountPath } of mounts) {
      for (const root of parents(mountPath)) {
        const path = roots.has(root) ? withoutTrailing(mountPath.slice(root.length + 1), '/') : '';
        if (path !== '' && !path.split('/').includes('..')) paths.add(path);
      }
    }
  }
  return [...paths].filter((path) => !parents(path).some((parent) => paths.has(parent)));
}

/** Nothing can be mounted at a longer one. */
const longestPath = 4096;

/** '', '/a' and '/a/b' of '/a/b/c'. */
function parents(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) found.push(path.slice(0, at));
  return found;
}
