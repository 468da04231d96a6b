import { erased, type Kind } from '../kind.ts';
import { certificateSigningRequestKind } from './certificates/certificate-signing-request.ts';
import { configMapKind } from './config-map.ts';
import { customResourceDefinitionKind } from './custom-resource-definition.ts';
import { csiDriverKind } from './csi-driver.ts';
import { csiNodeKind } from './csi-node.ts';
import { csiStorageCapacityKind } from './csi-storage-capacity.ts';
import { endpointSliceKind } from './endpoint-slice.ts';
import { endpointsKind } from './endpoints.ts';
import { eventKind, eventsEventKind } from './event.ts';
import { leaseKind } from './lease.ts';
import { limitRangeKind } from './limit-range.ts';
import { namespaceKind } from './namespace.ts';
import { nodeKind } from './node.ts';
import { persistentVolumeClaimKind } from './persistent-volume-claim.ts';
import { persistentVolumeKind } from './persistent-volume.ts';
import { podDisruptionBudgetKind } from './pod-disruption-budget.ts';
import { priorityClassKind } from './priority-class.ts';
import { resourceQuotaKind } from './resource-quota.ts';
import { secretKind } from './secret.ts';
import { serviceAccountKind } from './service-account.ts';
import { serviceKind } from './service.ts';
import { storageClassKind } from './storage-class.ts';
import { volumeAttachmentKind } from './volume-attachment.ts';
import { volumeAttributesClassKind } from './volume-attributes-class.ts';

/** All kinds but those that run pods. */
export const storageAndCoreKinds: readonly Kind[] = [
  erased(namespaceKind),
  erased(nodeKind),
  erased(persistentVolumeKind),
  erased(persistentVolumeClaimKind),
  erased(configMapKind),
  erased(secretKind),
  erased(serviceAccountKind),
  erased(serviceKind),
  erased(endpointsKind),
  erased(eventKind),
  erased(resourceQuotaKind),
  erased(limitRangeKind),
  erased(storageClassKind),
  erased(volumeAttachmentKind),
  erased(csiNodeKind),
  erased(csiDriverKind),
  erased(csiStorageCapacityKind),
  erased(volumeAttributesClassKind),
  erased(leaseKind),
  erased(podDisruptionBudgetKind),
  erased(priorityClassKind),
  erased(eventsEventKind),
  erased(endpointSliceKind),
  erased(customResourceDefinitionKind),
  erased(certificateSigningRequestKind),
];
