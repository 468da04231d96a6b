import { type FieldError, invalid, required, tooLong } from '../../field-error.ts';
import { dnsLabelProblems, dnsSubdomainProblems, LABEL_MAX_LENGTH, SUBDOMAIN_MAX_LENGTH } from '../../validation/names.ts';
import { byteLength } from '../../validation/text.ts';

/** The signers that every cluster has. No controller signs for any other name under kubernetes.io. */
export const signers = {
  client: 'kubernetes.io/kube-apiserver-client',
  nodeClient: 'kubernetes.io/kube-apiserver-client-kubelet',
  nodeServing: 'kubernetes.io/kubelet-serving',
  /** Of requests from before signers had names. No new one may ask for it. */
  legacy: 'kubernetes.io/legacy-unknown',
} as const;

const MAX_LENGTH = SUBDOMAIN_MAX_LENGTH + 1 + SUBDOMAIN_MAX_LENGTH + LABEL_MAX_LENGTH + 1;

/** 'example.com/signer-name'. */
export function validateSignerName(name: string, field: string): FieldError[] {
  if (name === '') return [required(field)];
  const segments = name.split('/');
  const [domain = '', path = ''] = segments;
  if (segments.length !== 2) return [invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  const labels = domain.split('.');
  return [
    ...(byteLength(domain) > SUBDOMAIN_MAX_LENGTH ? [tooLong(field, SUBDOMAIN_MAX_LENGTH)] : []),
    ...firstProblems(labels, dnsLabelProblems).map((problem) => invalid(field, domain, problem)),
    ...(labels.length < 2 ? [invalid(field, domain, 'should be a domain with at least two segments separated by dots')] : []),
    ...firstProblems(path.split('.'), dnsSubdomainProblems).map((problem) => invalid(field, path, problem)),
    ...(byteLength(name) > MAX_LENGTH ? [tooLong(field, MAX_LENGTH)] : []),
  ];
}

/** Of the first label with which anything is wrong. */
function firstProblems(labels: readonly string[], problemsOf: (label: string) => readonly string[]): string[] {
  for (const label of labels) {
    const problems = problemsOf(label);
    if (problems.length > 0) return problems.map((problem) => `validating label ${JSON.stringify(label)}: ${problem}`);
  }
  return [];
}
