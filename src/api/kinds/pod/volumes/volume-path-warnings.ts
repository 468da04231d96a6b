import type { Volume, VolumeProjection } from '../../../generated/types.ts';

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

/** A longer list is of no use to a reader. */
const MAX_OVERLAPS = 100;

function overlapsIn(paths: readonly FilePath[]): string[] {
  const files = paths.map(({ path, ...source }) => ({ path: withoutLastSlashes(path), ...source })).filter(({ path }) => path !== '');
  const nested = nestedPaths(files.map(({ path }) => path));
  const seen: FilePath[] = [];
  const overlaps: string[] = [];
  for (const file of files.filter(({ path }) => nested.has(path))) {
    if (overlaps.length >= MAX_OVERLAPS) break;
    for (const other of seen) if (isWithin(other.path, file.path) || isWithin(file.path, other.path)) overlaps.push(`${show(file)} with ${show(other)}`);
    seen.push(file);
  }
  return overlaps;
}

function withoutLastSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}

/** Those that lie in another, or have another in them. In order, what lies in a directory comes right behind it. */
function nestedPaths(paths: readonly string[]): ReadonlySet<string> {
  const nested = new Set<string>();
  const around: string[] = [];
  for (const path of paths.map((text) => `${text}/`).sort()) {
    while (around.length > 0 && !path.startsWith(around.at(-1) ?? '')) around.pop();
    const outer = around.at(-1);
    if (outer !== undefined) for (const found of [outer, path]) nested.add(found.slice(0, -1));
    around.push(path);
  }
  return nested;
}

const isWithin = (path: string, outer: string): boolean => `${path}/`.startsWith(`${outer}/`);
const show = ({ path, source }: FilePath): string => (source === undefined ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`);
