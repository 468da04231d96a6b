/** The input of OpenAPI documents: the resources of one group and version, from discovery. */
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
  /** If they differ from the resource's. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

/** 'v1', 'apps/v1' */
export const apiVersionOf = ({ group, version }: Pick<ServedVersion, 'group' | 'version'>): string => (group === '' ? version : `${group}/${version}`);

/** '/api/v1', '/apis/apps/v1' */
export const rootOf = (served: Pick<ServedVersion, 'group' | 'version'>): string => `${served.group === '' ? '/api' : '/apis'}/${apiVersionOf(served)}`;
