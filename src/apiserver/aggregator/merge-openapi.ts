interface Document {
  readonly paths?: Readonly<Record<string, unknown>>;
  readonly definitions?: Readonly<Record<string, unknown>>;
}

/** The document of the server that answers for a version of a group: 'wardle.example.com/v1'. */
export interface RemoteOpenApi {
  readonly groupVersion: string;
  readonly document: object;
}

/**
 * Adds to a document of OpenAPI v2 what those of other servers say: the paths below the version that each answers for, and their definitions. A definition that is
 * there already stays as it is: it is a type that all servers share, such as ObjectMeta.
 */
export function mergeOpenApiV2(own: object, others: readonly RemoteOpenApi[]): object {
  const { paths = {}, definitions = {} }: Document = own;
  const theirPaths = others.flatMap(({ groupVersion, document }) =>
    Object.entries((document as Document).paths ?? {}).filter(([path]) => `${path}/`.startsWith(`/apis/${groupVersion}/`)),
  );
  const theirDefinitions = others.flatMap(({ document }) => Object.entries((document as Document).definitions ?? {}));
  return {
    ...own,
    paths: { ...paths, ...Object.fromEntries(theirPaths) },
    definitions: { ...Object.fromEntries(theirDefinitions), ...definitions },
  };
}
