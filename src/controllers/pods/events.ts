/** What owners of pods are told about them: the texts of Kubernetes' ReplicaSet, DaemonSet and Job controllers. */
import type { EventDraft } from '../../client/decision.ts';

export const createdPod = (name: string): EventDraft => ({ type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}` });
export const failedCreate = (error: string): EventDraft => ({ type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${error}` });
export const deletedPod = (name: string): EventDraft => ({ type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${name}` });
export const failedDelete = (error: string): EventDraft => ({ type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${error}` });
