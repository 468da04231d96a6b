import { untypedKind, type Kind } from '../kind.ts';
import { certificateSigningRequestKind } from './certificates/certificate-signing-request.ts';
import { configMapKind } from './core/config-map.ts';
import { customResourceDefinitionKind } from './apiextensions/custom-resource-definition.ts';
import { csiDriverKind } from './storage/csi-driver.ts';
import { csiNodeKind } from './storage/csi-node.ts';
import { csiStorageCapacityKind } from './storage/csi-storage-capacity.ts';
import { endpointSliceKind } from './discovery/endpoint-slice.ts';
import { endpointsKind } from './core/endpoints.ts';
import { eventKind, eventsEventKind } from './core/event.ts';
import { leaseKind } from './coordination/lease.ts';
import { limitRangeKind } from './core/limit-range.ts';
import { namespaceKind } from './core/namespace.ts';
import { nodeKind } from './core/node.ts';
import { persistentVolumeClaimKind } from './core/persistent-volume-claim.ts';
import { persistentVolumeKind } from './core/persistent-volume.ts';
import { podDisruptionBudgetKind } from './policy/pod-disruption-budget.ts';
import { priorityClassKind } from './scheduling/priority-class.ts';
import { resourceQuotaKind } from './core/resource-quota.ts';
import { secretKind } from './core/secret.ts';
import { serviceAccountKind } from './core/service-account.ts';
import { serviceKind } from './core/service.ts';
import { storageClassKind } from './storage/storage-class.ts';
import { volumeAttachmentKind } from './storage/volume-attachment.ts';
import { volumeAttributesClassKind } from './storage/volume-attributes-class.ts';

/** All kinds but those that run pods. */
export const storageAndCoreKinds: readonly Kind[] = [
  untypedKind(namespaceKind),
  untypedKind(nodeKind),
  untypedKind(persistentVolumeKind),
  untypedKind(persistentVolumeClaimKind),
  untypedKind(configMapKind),
  untypedKind(secretKind),
  untypedKind(serviceAccountKind),
  untypedKind(serviceKind),
  untypedKind(endpointsKind),
  untypedKind(eventKind),
  untypedKind(resourceQuotaKind),
  untypedKind(limitRangeKind),
  untypedKind(storageClassKind),
  untypedKind(volumeAttachmentKind),
  untypedKind(csiNodeKind),
  untypedKind(csiDriverKind),
  untypedKind(csiStorageCapacityKind),
  untypedKind(volumeAttributesClassKind),
  untypedKind(leaseKind),
  untypedKind(podDisruptionBudgetKind),
  untypedKind(priorityClassKind),
  untypedKind(eventsEventKind),
  untypedKind(endpointSliceKind),
  untypedKind(customResourceDefinitionKind),
  untypedKind(certificateSigningRequestKind),
];
