interface Document {
  readonly paths?: Readonly<Record<string, unknown>>;
  readonly definitions?: Readonly<Record<string, unknown>>;
}

/**
 * Adds to a document of OpenAPI v2 what those of other servers say about the groups and versions ('wardle.example.com/v1') that they answer for: the paths below
 * them, and their definitions. A definition that is there already stays as it is: it is a type that all servers share, such as ObjectMeta.
 */
export function mergeOpenApiV2(own: object, others: readonly object[], groupVersions: readonly string[]): object {
  const prefixes = groupVersions.map((groupVersion) => `/apis/${groupVersion}/`);
  const { paths = {}, definitions = {} }: Document = own;
  const isTheirs = (path: string): boolean => prefixes.some((prefix) => `${path}/`.startsWith(prefix));
  const theirPaths = others.flatMap((other: Document) => Object.entries(other.paths ?? {}).filter(([path]) => isTheirs(path)));
  const theirDefinitions = others.flatMap((other: Document) => Object.entries(other.definitions ?? {}));
  return {
    ...own,
    paths: { ...paths, ...Object.fromEntries(theirPaths) },
    definitions: { ...Object.fromEntries(theirDefinitions), ...definitions },
  };
}
