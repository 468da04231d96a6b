/** populator.storage.k8s.io/v1beta1: which kinds fill volumes (volume-data-source-validator, client/config/crd). */
import type { ObjectMeta } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { column, object, predefine, preferredKind, text, topLevel } from '../snapshot/schemas.ts';

/** Registers a volume populator for the kind of its data sources. */
export interface VolumePopulator {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  readonly sourceKind: { readonly group: string; readonly kind: string };
}

export const volumePopulatorDefinition = predefine({
  group: 'populator.storage.k8s.io',
  versions: ['v1beta1'],
  names: { plural: 'volumepopulators', singular: 'volumepopulator', kind: 'VolumePopulator', shortNames: [] },
  namespaced: false,
  hasStatus: false,
  columns: [column('SourceKind', 'string', '.sourceKind')],
  schema: topLevel(
    'Registers a volume populator for the kind of its data sources.',
    {
      sourceKind: object({
        description: 'The kind of objects that claims may name as their data source.',
        properties: { group: text('Its API group.'), kind: text('Its name.') },
        required: ['group', 'kind'],
      }),
    },
    ['sourceKind'],
  ),
});

export const volumePopulatorKind: Kind<VolumePopulator> = preferredKind(volumePopulatorDefinition);
