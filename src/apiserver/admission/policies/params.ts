import type { ParamKind, ParamRef } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../api/object.ts';
import { labelSelectorOf, matchesLabels } from '../../../api/selectors/label-selector.ts';
import type { Resource, Resources } from '../../objects/resources.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';

/** A policy or binding is misconfigured. */
export class ConfigurationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigurationError';
  }
}

/** The params with which a policy runs, one run for each; null: without params. */
export type Params = readonly (KubeObject | null)[];

/** @throws ConfigurationError if there is no such kind */
export function paramResource({ apiVersion = '', kind = '' }: ParamKind, resources: Resources): Resource {
  const found = resources.findKind(apiVersion, kind);
  const group = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  if (found === undefined) throw new ConfigurationError(`failed to find resource referenced by paramKind: '${group}, Kind=${kind}'`);
  return found;
}

/** `namespace`: that of the request. @throws ConfigurationError */
export async function paramsOf(
  resource: Resource | undefined,
  ref: ParamRef | undefined,
  { reader, namespace }: { readonly reader: ClusterReader; readonly namespace: string },
): Promise<Params> {
  if (resource === undefined || ref === undefined) return [null];
  const within = namespaceFor(resource, ref, namespace);
  const found = await find(resource, ref, { reader, within });
  if (found.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return found;
}

function namespaceFor({ kind }: Resource, { namespace: given = '' }: ParamRef, ofRequest: string): string {
  if (!kind.namespaced) {
    if (given !== '') throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
    return '';
  }
  if (given === '' && ofRequest === '') {
    throw new ConfigurationError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  }
  return given === '' ? ofRequest : given;
}

async function find(
  resource: Resource,
  { name = '', selector }: ParamRef,
  { reader, within }: { readonly reader: ClusterReader; readonly within: string },
): Promise<readonly KubeObject[]> {
  if (name !== '') {
    const param = await reader.get(resource, within, name);
    return param === undefined ? [] : [param];
  }
  const wanted = labelSelectorOf(selector);
  const all = await reader.list(resource, within);
  return all.filter(({ metadata }) => matchesLabels(wanted, metadata.labels));
}
