import { type FieldError, invalid, required } from '../field-error.ts';

/** Kinds in Kubernetes' own groups need the annotation api-approved.kubernetes.io with the URL of the approval. */
export const isProtectedGroup = (group: string): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group);

const annotation = 'api-approved.kubernetes.io';
const discussion = 'see https://github.com/kubernetes/enhancements/pull/1111';

export interface Approval {
  readonly state: 'missing' | 'bypassed' | 'approved' | 'invalid';
  readonly reason: string;
}

export function approvalOf(annotations: Readonly<Record<string, string>>): Approval {
  const given = annotations[annotation] ?? '';
  const demand = `protected groups must have approval annotation "${annotation}"`;
  if (given === '') return { state: 'missing', reason: `${demand}, ${discussion}` };
  if (given.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${JSON.stringify(given)}` };
  if (URL.canParse(given) && new URL(given).host !== '') return { state: 'approved', reason: `approved in ${given}` };
  return { state: 'invalid', reason: `${demand} with either a URL or a reason starting with "unapproved", ${discussion}` };
}

export function validateApproval(annotations: Readonly<Record<string, string>>, old: Readonly<Record<string, string>> | undefined): FieldError[] {
  const { state, reason } = approvalOf(annotations);
  const field = `metadata.annotations[${annotation}]`;
  if (old !== undefined && approvalOf(old).state === state) return [];
  if (state === 'missing') return [required(field, reason)];
  return state === 'invalid' ? [invalid(field, annotations[annotation], reason)] : [];
}
