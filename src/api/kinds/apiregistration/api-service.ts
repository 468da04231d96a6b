import { type FieldError, invalid, notSupported, required } from '../../field-error.ts';
import type { APIService, APIServiceCondition } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { dnsSubdomain, invalidEach, present } from '../../validation/field-rules.ts';
import { dns1035LabelProblems, pathSegmentProblems } from '../../validation/names.ts';
import { portNumberProblems } from '../../validation/formats.ts';
import { everyVerb } from '../../verbs.ts';
import { base64ByteLength } from '../base64.ts';
import { timestamp } from '../timestamps.ts';

const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1_000;
const statuses = ['True', 'False', 'Unknown'];

/** As Kubernetes' ValidateAPIService. */
function validate(service: APIService): FieldError[] {
  const { group = '', version = '', groupPriorityMinimum, versionPriority } = service.spec;
  const name = `${version}.${group}`;
  return [
    ...(service.metadata.name === name
      ? []
      : [invalid('metadata.name', service.metadata.name ?? '', `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(name)}`)]),
    ...(group === '' && version !== 'v1' ? [required('spec.group', 'only v1 may have an empty group and it better be legacy kube')] : []),
    ...(group === '' ? [] : dnsSubdomain(group, 'spec.group')),
    ...invalidEach('spec.version', version, dns1035LabelProblems(version)),
    ...(groupPriorityMinimum > 0 && groupPriorityMinimum <= MAX_GROUP_PRIORITY
      ? []
      : [invalid('spec.groupPriorityMinimum', groupPriorityMinimum, 'must be positive and less than 20000')]),
    ...(versionPriority > 0 && versionPriority <= MAX_VERSION_PRIORITY
      ? []
      : [invalid('spec.versionPriority', versionPriority, 'must be positive and less than 1000')]),
    ...validateService(service),
  ];
}

function validateService({ spec: { service, caBundle = '', insecureSkipTLSVerify = false } }: APIService): FieldError[] {
  if (service === undefined) {
    return [
      ...(caBundle === '' ? [] : [invalid('spec.caBundle', `${base64ByteLength(caBundle)} bytes`, 'local APIServices may not have a caBundle')]),
      ...(insecureSkipTLSVerify ? [invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify')] : []),
    ];
  }
  const problems = portNumberProblems(service.port ?? 0);
  return [
    ...present(service.namespace, 'spec.service.namespace'),
    ...present(service.name, 'spec.service.name'),
    ...(problems.length === 0 ? [] : [invalid('spec.service.port', service.port ?? 0, `port is not valid: ${problems.join(', ')}`)]),
    ...(insecureSkipTLSVerify && caBundle !== '' ? [invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')] : []),
  ];
}

export const availableCondition = ({ status }: APIService): APIServiceCondition | undefined => status.conditions?.find(({ type }) => type === 'Available');

const serviceOf = ({ service }: APIService['spec']): string => (service === undefined ? 'Local' : `${service.namespace ?? ''}/${service.name ?? ''}`);

function availabilityOf(service: APIService): string {
  const { status = 'Unknown', reason = '' } = availableCondition(service) ?? {};
  return status === 'True' ? status : `${status} (${reason})`;
}

/** Which server answers for a version of a group: this one, or one behind a Service. */
export const apiServiceKind: Kind<APIService> = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  plural: 'apiservices',
  singular: 'apiservice',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  type: 'APIService',
  storage: { resource: 'apiregistration.k8s.io/apiservices' },
  verbs: everyVerb,
  validateName: pathSegmentProblems,
  defaults: ({ spec: { service } }) => {
    if (service !== undefined) service.port ??= 443;
  },
  prepareForCreate: (service, now) => {
    const local = { type: 'Available', status: 'True', lastTransitionTime: timestamp(now), reason: 'Local', message: 'Local APIServices are always available' };
    service.status = service.spec.service === undefined ? { conditions: [local] } : {};
  },
  validate,
  status: {
    validateUpdate: ({ status }) =>
      (status.conditions ?? []).flatMap((condition, i) =>
        statuses.includes(condition.status) ? [] : [notSupported(`status.conditions[${i}].status`, condition.status, statuses)],
      ),
  },
  hasGeneration: false,
  unconditionalUpdate: false,
  selectableFields: {},
  columns: [nameColumn, textColumn('Service', ({ spec }) => serviceOf(spec)), textColumn('Available', availabilityOf), ageColumn],
};
