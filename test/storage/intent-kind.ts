/** The kind of intents, for servers in tests. */
import { typeLines } from '../../src/api/generated/schema.ts';
import type { Kind } from '../../src/api/kind.ts';
import { everyVerb } from '../../src/api/kinds/verbs.ts';
import { nameIsDnsSubdomain } from '../../src/api/validation/names.ts';
import { intentKind as named, type VolumeIntent } from '../../src/domain/volumes/intent.ts';

Object.assign(typeLines, {
  VolumeIntent: [
    'k8s.io/api/mooring/v1 VolumeIntent',
    '- TypeMeta 0 inline',
    'metadata ObjectMeta 1 omitempty',
    'spec RawExtension 2',
    'status RawExtension 3',
  ].join('\n'),
});

export const volumeIntentKind: Kind<VolumeIntent> = {
  ...named,
  // The schema knows no groups but Kubernetes' so far.
  group: 'mooring.k8s.io',
  singular: 'volumeintent',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'VolumeIntent',
  storage: { resource: 'mooring.k8s.io/volumeintents' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  hasGeneration: false,
  unconditionalUpdate: false,
  selectableFields: {},
  columns: [],
};
