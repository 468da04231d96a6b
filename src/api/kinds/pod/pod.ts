import type { Pod } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { everyVerb } from '../../verbs.ts';
import { podColumns, podRowConditions } from './pod-columns.ts';
import { defaultPod } from './pod-defaults.ts';
import { dropDisabledFields } from './pod-disabled-fields.ts';
import { podEphemeralContainers } from './pod-ephemeral-containers.ts';
import { podResize } from './pod-resize.ts';
import { podGracePeriod, prepareNewPod, preparePodStatus } from './pod-strategy.ts';
import { validatePodStatusUpdate } from './pod-status.ts';
import { validatePodUpdate } from './pod-update.ts';
import { validateNewPod, validatePod } from './pod-validation.ts';
import { podWarnings } from './pod-warnings.ts';

export const podKind: Kind<Pod> = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  type: 'Pod',
  storage: { resource: 'pods' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults: defaultPod,
  prepareForCreate: prepareNewPod,
  prepareForUpdate: (pod) => dropDisabledFields(pod.spec),
  validate: validatePod,
  validateCreate: validateNewPod,
  validateUpdate: validatePodUpdate,
  checks: { update: ['metadataChange', 'metadata', 'object', 'change'] },
  warnings: podWarnings,
  status: { prepareForUpdate: preparePodStatus, validateUpdate: validatePodStatusUpdate },
  parts: { ephemeralcontainers: podEphemeralContainers, resize: podResize },
  hasGeneration: true,
  unconditionalUpdate: true,
  gracePeriod: podGracePeriod,
  selectableFields: {
    'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
    'spec.restartPolicy': ({ spec }) => spec.restartPolicy ?? '',
    'spec.schedulerName': ({ spec }) => spec.schedulerName ?? '',
    'spec.serviceAccountName': ({ spec }) => spec.serviceAccountName ?? '',
    'spec.hostNetwork': ({ spec }) => String(spec.hostNetwork ?? false),
    'status.phase': ({ status }) => status.phase ?? '',
    'status.podIP': ({ status }) => status.podIPs?.[0]?.ip ?? '',
    // Known, but never anything.
    'status.podIPs': () => '',
    // What the oldest clients call it.
    'spec.host': ({ spec }) => spec.nodeName ?? '',
    'status.nominatedNodeName': ({ status }) => status.nominatedNodeName ?? '',
  },
  columns: podColumns,
  rowConditions: podRowConditions,
};
