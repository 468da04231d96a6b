/** Questions that are asked by creating them. Nothing of them is kept. */
export interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const review = (group: string, kind: string, namespaced = false): ReviewKind => ({ group, version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced });

export const reviewKinds = {
  selfSubject: review('authentication.k8s.io', 'SelfSubjectReview'),
  token: review('authentication.k8s.io', 'TokenReview'),
  localAccess: review('authorization.k8s.io', 'LocalSubjectAccessReview', true),
  selfAccess: review('authorization.k8s.io', 'SelfSubjectAccessReview'),
  selfRules: review('authorization.k8s.io', 'SelfSubjectRulesReview'),
  access: review('authorization.k8s.io', 'SubjectAccessReview'),
} as const;
