import { type FieldError, invalid, required } from '../../field-error.ts';
import type { ServiceCIDR, ServiceCIDRSpec } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { isIpv4, parseCidr, validateCidr } from '../../validation/ip.ts';
import { IMMUTABLE } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { timestamp } from '../timestamps.ts';

/** The ServiceCIDR of the range that the API server was started with. */
export const defaultServiceCidrName = 'kubernetes';

const FIELD = 'spec.cidrs';
const MAX_CIDRS = 2;

function validateSpec(spec: ServiceCIDRSpec): FieldError[] {
  const { cidrs = [] } = spec;
  if (cidrs.length === 0) return [required(FIELD, 'at least one CIDR required')];
  if (cidrs.length > MAX_CIDRS) return [invalid(FIELD, { CIDRs: cidrs }, 'may only hold up to 2 values')];
  const errors = cidrs.flatMap((cidr, i) => validateCidr(cidr, `${FIELD}[${i}]`));
  const [first, second] = cidrs.map(familyOf);
  if (first === undefined || first !== second) return errors;
  return [...errors, invalid(FIELD, cidrs, 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64')];
}

function familyOf(cidr: string): 'IPv4' | 'IPv6' | undefined {
  const parsed = parseCidr(cidr);
  if (parsed === undefined) return undefined;
  return isIpv4(parsed.ip) ? 'IPv4' : 'IPv6';
}

/** A second family may be added; all else stays. */
function validateUpdate({ spec }: ServiceCIDR, { spec: oldSpec }: ServiceCIDR): FieldError[] {
  const [cidrs, old] = [spec.cidrs ?? [], oldSpec.cidrs ?? []];
  const changed = (i: number): FieldError[] => (cidrs[i] === old[i] ? [] : [invalid(`${FIELD}[${i}]`, cidrs[i], IMMUTABLE)]);
  if (cidrs.length === old.length) return old.flatMap((_, i) => changed(i));
  if (old.length === 1 && cidrs.length === MAX_CIDRS) return [...changed(0), ...validateSpec(spec)];
  return [invalid(FIELD, cidrs, IMMUTABLE)];
}

/** A range of addresses that Services are given. */
export const serviceCidrKind: Kind<ServiceCIDR> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  singular: 'servicecidr',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'ServiceCIDR',
  storage: { resource: 'networking.k8s.io/servicecidrs' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  // The API server allocates from a range as soon as it is stored: no controller has to say so later.
  prepareForCreate: (range, now) => {
    const message = 'Kubernetes Service CIDR is ready';
    range.status = { conditions: [{ type: 'Ready', status: 'True', reason: '', message, lastTransitionTime: timestamp(now) }] };
  },
  validate: ({ spec }) => validateSpec(spec),
  validateUpdate,
  checks: { update: ['metadataChange', 'change'], status: ['metadataChange'] },
  status: {},
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [nameColumn, textColumn('CIDRs', ({ spec }) => (spec.cidrs ?? []).join(',')), ageColumn],
};
