/** The namespaceSelector and objectSelector of webhooks and policies. */
import type { LabelSelector as Selector, Namespace } from '../../../api/generated/types.ts';
import { statusErrors } from '../../../api/status.ts';
import { everything, type LabelSelector, labelSelectorOf, type Labels, matchesLabels, selectsEverything } from '../../../api/selectors/label-selector.ts';
import type { Resources } from '../../objects/resources.ts';
import type { AdmissionRequest } from '../chain.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import { isNamespaces, namespaceOf, objectOf } from './attributes.ts';

export interface Selectors {
  readonly namespaces: LabelSelector;
  readonly objects: LabelSelector;
}

/** An absent one selects everything. */
export const selectorsOf = (given: { readonly namespaceSelector?: Selector; readonly objectSelector?: Selector }): Selectors => ({
  namespaces: given.namespaceSelector === undefined ? everything : labelSelectorOf(given.namespaceSelector),
  objects: given.objectSelector === undefined ? everything : labelSelectorOf(given.objectSelector),
});

export class NamespaceReader {
  readonly #reader: ClusterReader;
  readonly #resources: Resources;

  constructor(reader: ClusterReader, resources: Resources) {
    this.#reader = reader;
    this.#resources = resources;
  }

  /** @throws ApiError 404 */
  async get(name: string): Promise<Namespace> {
    const namespaces = this.#resources.require('v1', 'namespaces');
    const found = await this.#reader.get<Namespace>(namespaces, '', name);
    if (found === undefined) throw statusErrors.notFound(namespaces.kind, name);
    return found;
  }

  /** For a write of a Namespace: the new labels. */
  async labelsFor(request: AdmissionRequest): Promise<Labels | undefined> {
    if (isNamespaces(request.resource) && request.subresource === '' && request.operation !== 'delete') return request.object.metadata.labels;
    return (await this.get(namespaceOf(request))).metadata.labels;
  }
}

/** The namespaceSelector does not apply to cluster-scoped objects. @throws ApiError 404 */
export async function selects({ namespaces, objects }: Selectors, request: AdmissionRequest, reader: NamespaceReader): Promise<boolean> {
  if (!selectsObject(objects, request)) return false;
  if (selectsEverything(namespaces) || namespaceOf(request) === '') return true;
  return matchesLabels(namespaces, await reader.labelsFor(request));
}

/** The new or the old object. */
function selectsObject(selector: LabelSelector, request: AdmissionRequest): boolean {
  if (selectsEverything(selector)) return true;
  return [objectOf(request), request.old].some((object) => object !== undefined && matchesLabels(selector, object.metadata.labels));
}
