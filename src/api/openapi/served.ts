/** What OpenAPI documents describe: the resources of one version of one group, as discovery lists them. */
export interface ServedVersion {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resources: readonly ServedResource[];
}

export interface ServedResource {
  /** 'pods' */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** 'create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch' */
  readonly verbs: readonly string[];
  readonly subresources: readonly ServedSubresource[];
}

export interface ServedSubresource {
  /** 'status' */
  readonly name: string;
  readonly kind: string;
  /** Only where they are not the resource's own. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

/** 'v1', 'apps/v1' */
export const apiVersionOf = ({ group, version }: Pick<ServedVersion, 'group' | 'version'>): string => (group === '' ? version : `${group}/${version}`);

/** '/api/v1', '/apis/apps/v1' */
export const rootOf = (served: Pick<ServedVersion, 'group' | 'version'>): string => `${served.group === '' ? '/api' : '/apis'}/${apiVersionOf(served)}`;
