import type { Volume, VolumeProjection } from '../../generated/types.ts';

interface FilePath {
  readonly path: string;
  /** Which part of a projected volume writes it. */
  readonly source?: string;
}

/** Files of one volume that lie upon each other: one is written over, or is in the way of the other's directory. */
export function overlappingPathWarnings(volumes: readonly Volume[]): string[] {
  return volumes.flatMap(({ name, configMap, secret, downwardAPI, projected }) => {
    const warn = (what: string, overlaps: readonly string[]): string[] =>
      overlaps.map((overlap) => `volume ${JSON.stringify(name)} (${what}): overlapping paths: ${overlap}`);
    return [
      ...warn(`ConfigMap ${JSON.stringify(configMap?.name ?? '')}`, overlapsIn(configMap?.items ?? [])),
      ...warn(`Secret ${JSON.stringify(secret?.secretName ?? '')}`, overlapsIn(secret?.items ?? [])),
      ...warn('DownwardAPI', overlapsIn(downwardAPI?.items ?? [])),
      ...(projected?.sources ?? [])
        .filter((source) => Object.keys(source).length === 0)
        .map(() => `volume ${JSON.stringify(name)} (Projected) has no sources provided`),
      ...warn('Projected', overlapsIn((projected?.sources ?? []).flatMap(projectedPaths))),
    ];
  });
}

function projectedPaths({ configMap, secret, downwardAPI, serviceAccountToken }: VolumeProjection): FilePath[] {
  const named = (items: readonly FilePath[], source: string): FilePath[] => items.map(({ path }) => ({ path, source }));
  if (configMap?.items) return named(configMap.items, `ConfigMap ${JSON.stringify(configMap.name ?? '')}`);
  if (secret?.items) return named(secret.items, `Secret ${JSON.stringify(secret.name ?? '')}`);
  if (downwardAPI?.items) return named(downwardAPI.items, 'DownwardAPI');
  return serviceAccountToken ? [{ path: serviceAccountToken.path, source: 'ServiceAccountToken' }] : [];
}

function overlapsIn(paths: readonly FilePath[]): string[] {
  const seen: FilePath[] = [];
  return paths.flatMap(({ path, ...source }) => {
    const here = { path: path.replace(/\/+$/, ''), ...source };
    const overlaps = seen.filter((other) => areNested(other.path, here.path)).map((other) => `${show(here)} with ${show(other)}`);
    seen.push(here);
    return overlaps;
  });
}

const areNested = (a: string, b: string): boolean => a !== '' && b !== '' && (`${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`));
const show = ({ path, source }: FilePath): string => (source === undefined ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`);
