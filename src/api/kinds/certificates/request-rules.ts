import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../field-error.ts';
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '../../generated/types.ts';
import { parseCertificateRequest } from '../../x509/certificate-request.ts';
import { certificateProblem } from '../../x509/certificates.ts';
import { signers, validateSignerName } from './signer-name.ts';

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

/** Once there, these stay, and are true. */
const final: readonly string[] = ['Approved', 'Denied', 'Failed'];
const decisions: readonly string[] = ['Approved', 'Denied'];

const MIN_SECONDS = 600;

/** What an object that is there already may go on having. */
interface Tolerance {
  readonly legacySigner: boolean;
  readonly unknownUsages: boolean;
  readonly duplicateUsages: boolean;
  readonly emptyConditionTypes: boolean;
  readonly duplicateConditionTypes: boolean;
  readonly contradiction: boolean;
  readonly anyCertificate: boolean;
}

const none: Tolerance = {
  legacySigner: false,
  unknownUsages: false,
  duplicateUsages: false,
  emptyConditionTypes: false,
  duplicateConditionTypes: false,
  contradiction: false,
  anyCertificate: false,
};

/** That the request bears the signature of its key is checked where there is cryptography: by the server's admission. */
export const validateRequest = (request: CertificateSigningRequest): FieldError[] => requestErrors(request, none);

/** What else a write may do. */
export interface Powers {
  readonly decides: boolean;
  readonly issues: boolean;
}

export const validateChange =
  ({ decides, issues }: Powers) =>
  (request: CertificateSigningRequest, old: CertificateSigningRequest): FieldError[] => {
    const before = old.status.certificate ?? '';
    const certificateErrors = (): FieldError[] => {
      if ((request.status.certificate ?? '') === before) return [];
      if (!issues) return [forbidden('status.certificate', 'updates may not set certificate content')];
      return before === '' ? [] : [forbidden('status.certificate', 'updates may not modify existing certificate content')];
    };
    return [
      ...requestErrors(request, toleranceFor(request, old)),
      ...final.flatMap((type) => (countOf(request, type) < countOf(old, type) ? [notAllowed('remove', type)] : [])),
      // What was there already is taken from the old object: it cannot have been changed.
      ...decisions.flatMap((type) => (!decides && countOf(request, type) > countOf(old, type) ? [notAllowed('add', type)] : [])),
      ...certificateErrors(),
    ];
  };

const notAllowed = (change: 'add' | 'remove', type: string): FieldError =>
  forbidden('status.conditions', `updates may not ${change} a condition of type ${JSON.stringify(type)}`);

const conditionsOf = ({ status }: CertificateSigningRequest): readonly CertificateSigningRequestCondition[] => status.conditions ?? [];

const countOf = (request: CertificateSigningRequest, type: string): number => conditionsOf(request).filter((condition) => condition.type === type).length;

function toleranceFor(request: CertificateSigningRequest, old: CertificateSigningRequest): Tolerance {
  const types = conditionsOf(old).map(({ type }) => type);
  const oldUsages = old.spec.usages ?? [];
  const certificate = old.status.certificate ?? '';
  return {
    legacySigner: old.spec.signerName === signers.legacy,
    unknownUsages: oldUsages.some((usage) => !usages.includes(usage)),
    duplicateUsages: new Set(oldUsages).size < oldUsages.length,
    emptyConditionTypes: types.includes(''),
    duplicateConditionTypes: new Set(types).size < types.length,
    contradiction: decisions.every((type) => types.includes(type)),
    anyCertificate: (request.status.certificate ?? '') === certificate || certificateProblem(certificate) !== undefined,
  };
}

function requestErrors(request: CertificateSigningRequest, tolerated: Tolerance): FieldError[] {
  const { spec, status } = request;
  const parsed = parseCertificateRequest(spec.request);
  const { expirationSeconds } = spec;
  const problem = tolerated.anyCertificate ? undefined : certificateProblem(status.certificate ?? '');
  return [
    ...(parsed.ok ? [] : [invalid('spec.request', spec.request, parsed.error)]),
    ...usageErrors(spec.usages ?? [], tolerated),
    ...(!tolerated.legacySigner && spec.signerName === signers.legacy
      ? [invalid('spec.signerName', spec.signerName, 'the legacy signerName is not allowed via this API version')]
      : validateSignerName(spec.signerName, 'spec.signerName')),
    ...(expirationSeconds !== undefined && expirationSeconds < MIN_SECONDS
      ? [invalid('spec.expirationSeconds', expirationSeconds, 'may not specify a duration less than 600 seconds (10 minutes)')]
      : []),
    ...conditionErrors(conditionsOf(request), tolerated),
    ...(problem === undefined ? [] : [invalid('status.certificate', '<certificate data>', problem)]),
  ];
}

function usageErrors(given: readonly string[], { unknownUsages, duplicateUsages }: Tolerance): FieldError[] {
  const at = (i: number): string => `spec.usages[${i}]`;
  return [
    ...(given.length === 0 ? [required('spec.usages')] : []),
    ...given.flatMap((usage, i) => (unknownUsages || usages.includes(usage) ? [] : [notSupported(at(i), usage, usages)])),
    ...repeated(duplicateUsages ? [] : given).map((i) => duplicate(at(i), given[i])),
  ];
}

/** The places of what was there before. */
function repeated(values: readonly string[]): number[] {
  const seen = new Set<string>();
  return values.flatMap((value, i) => {
    const known = seen.has(value);
    seen.add(value);
    return known ? [i] : [];
  });
}

function conditionErrors(conditions: readonly CertificateSigningRequestCondition[], tolerated: Tolerance): FieldError[] {
  const again = new Set(tolerated.duplicateConditionTypes ? [] : repeated(conditions.map(({ type }) => type)));
  const decided = new Set<string>();
  return conditions.flatMap(({ type, status }, i) => {
    const field = `status.conditions[${i}]`;
    const errors: FieldError[] = type === '' && !tolerated.emptyConditionTypes ? [required(`${field}.type`)] : [];
    const allowed = final.includes(type) ? ['True'] : ['True', 'False', 'Unknown'];
    if (status === '') errors.push(required(`${field}.status`));
    else if (!allowed.includes(status)) errors.push(notSupported(`${field}.status`, status, allowed));
    if (!tolerated.contradiction && decisions.includes(type)) {
      decided.add(type);
      if (decided.size > 1) errors.push(invalid('status.conditions', type, 'Approved and Denied conditions are mutually exclusive'));
    }
    if (again.has(i)) errors.push(duplicate(`${field}.type`, type));
    return errors;
  });
}
