import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '../../generated/types.ts';
import type { Kind, Requester } from '../../kind.ts';
import { ageColumn, humanDuration, nameColumn, textColumn } from '../../printer-columns.ts';
import { timestamp } from '../timestamps.ts';
import { everyVerb } from '../../verbs.ts';
import { validateChange, validateRequest } from './request-rules.ts';

/** A signature is given for the requesting user: only the server sets it. */
function identify({ spec }: CertificateSigningRequest, { name, uid, groups, extra }: Requester): void {
  if (name !== '') spec.username = name;
  if (uid !== undefined && uid !== '') spec.uid = uid;
  if (groups.length > 0) spec.groups = [...groups];
  const entries = Object.entries(extra ?? {});
  if (entries.length > 0) spec.extra = Object.fromEntries(entries.map(([key, values]) => [key, [...values]]));
}

function prepareForCreate(request: CertificateSigningRequest, _now: number, requester?: Requester): void {
  for (const key of ['username', 'uid', 'groups', 'extra'] as const) delete request.spec[key];
  if (requester !== undefined) identify(request, requester);
  request.status = {};
}

/** Decisions that were made stay word for word, as long as there are as many of them. */
function keepDecisions({ status }: CertificateSigningRequest, old: CertificateSigningRequest): void {
  for (const type of ['Approved', 'Denied']) {
    const before = (old.status.conditions ?? []).filter((condition) => condition.type === type);
    const after = (status.conditions ?? []).filter((condition) => condition.type === type);
    if (before.length !== after.length) continue;
    status.conditions = status.conditions?.map((condition) => (condition.type === type ? (before.shift() ?? condition) : condition)) ?? [];
    if (status.conditions.length === 0) delete status.conditions;
  }
}

function dateConditions({ status }: CertificateSigningRequest, old: CertificateSigningRequest, now: number): void {
  if (status.conditions === undefined) return;
  const time = timestamp(now);
  const since = ({ type, status: value }: CertificateSigningRequestCondition): string =>
    (old.status.conditions ?? []).find((other) => other.type === type && other.status === value && other.lastTransitionTime !== null)?.lastTransitionTime ??
    time;
  status.conditions = status.conditions.map((condition) => ({
    ...condition,
    lastUpdateTime: condition.lastUpdateTime ?? time,
    lastTransitionTime: condition.lastTransitionTime ?? since(condition),
  }));
}

function conditionOf({ status }: CertificateSigningRequest): string {
  const has = (type: string): boolean => (status.conditions ?? []).some((condition) => condition.type === type);
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return `${decision}${has('Failed') ? ',Failed' : ''}${(status.certificate ?? '') === '' ? '' : ',Issued'}`;
}

export const certificateSigningRequestKind: Kind<CertificateSigningRequest> = {
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  singular: 'certificatesigningrequest',
  shortNames: ['csr'],
  categories: [],
  namespaced: false,
  type: 'CertificateSigningRequest',
  storage: { resource: 'certificates.k8s.io/certificatesigningrequests' },
  verbs: everyVerb,
  validateName: () => [],
  prepareForCreate,
  prepareForUpdate: (request, old) => {
    request.spec = old.spec;
    request.status = old.status;
  },
  validate: validateRequest,
  validateUpdate: validateChange({ decides: false, issues: false }),
  // A change is judged with a look at what was there before, so the object is not judged by itself.
  checks: { update: ['metadata', 'change', 'metadataChange'], status: ['metadata', 'change', 'metadataChange'] },
  status: {
    prepareForUpdate: (request, old, now) => {
      keepDecisions(request, old);
      dateConditions(request, old, now);
    },
    validateUpdate: validateChange({ decides: false, issues: true }),
  },
  approval: {
    prepareForUpdate: (request, old, now) => {
      dateConditions(request, old, now);
      const { conditions } = request.status;
      request.status = { ...old.status };
      if (conditions === undefined) delete request.status.conditions;
      else request.status.conditions = conditions;
    },
    validateUpdate: validateChange({ decides: true, issues: false }),
  },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: { 'spec.signerName': ({ spec }) => spec.signerName },
  columns: [
    nameColumn,
    ageColumn,
    textColumn('SignerName', ({ spec }) => (spec.signerName === '' ? '<none>' : spec.signerName)),
    textColumn('Requestor', ({ spec }) => spec.username ?? ''),
    textColumn('RequestedDuration', ({ spec }) => (spec.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000))),
    textColumn('Condition', conditionOf),
  ],
};
