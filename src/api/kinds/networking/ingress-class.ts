import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from '../../field-error.ts';
import type { IngressClass, IngressClassParametersReference } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { httpPathProblem } from '../../validation/formats.ts';
import { immutable } from '../../validation/metadata.ts';
import { dnsLabelProblems, dnsSubdomainProblems, nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { invalidEach } from '../../validation/field-rules.ts';
import { segment } from './ingress.ts';

const DEFAULT_ANNOTATION = 'ingressclass.kubernetes.io/is-default-class';
const MAX_CONTROLLER_LENGTH = 250;

function validate({ spec }: IngressClass): FieldError[] {
  const { controller = '', parameters } = spec;
  return [
    ...(controller.length > MAX_CONTROLLER_LENGTH ? [tooLong('spec.controller', MAX_CONTROLLER_LENGTH)] : []),
    ...domainPrefixedPath(controller, 'spec.controller'),
    ...(parameters === undefined ? [] : validateParameters(parameters, 'spec.parameters')),
  ];
}

function domainPrefixedPath(path: string, field: string): FieldError[] {
  if (path === '') return [required(field)];
  const slash = path.indexOf('/');
  const [host, rest] = [path.slice(0, Math.max(slash, 0)), path.slice(slash + 1)];
  if (host === '' || rest === '') return [invalid(field, path, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const problem = httpPathProblem(rest);
  return [...invalidEach(field, host, dnsSubdomainProblems(host)), ...(problem === undefined ? [] : [invalid(field, rest, problem)])];
}

function validateParameters({ apiGroup, kind, name, scope, namespace }: IngressClassParametersReference, field: string): FieldError[] {
  const errors = [
    ...(apiGroup === undefined ? [] : invalidEach(`${field}.apiGroup`, apiGroup, dnsSubdomainProblems(apiGroup))),
    ...segment(kind, `${field}.kind`),
    ...segment(name, `${field}.name`),
  ];
  const at = `${field}.namespace`;
  switch (scope) {
    case null:
      return [...errors, required(`${field}.scope`)];
    case 'Namespace':
      if (namespace === undefined) return [...errors, required(at, "`parameters.scope` is set to 'Namespace'")];
      return [...errors, ...invalidEach(at, namespace, dnsLabelProblems(namespace))];
    case 'Cluster':
      return namespace === undefined ? errors : [...errors, forbidden(at, "`parameters.scope` is set to 'Cluster'")];
    default:
      return [...errors, notSupported(`${field}.scope`, scope, ['Cluster', 'Namespace'])];
  }
}

function parametersCell({ spec: { parameters } }: IngressClass): string {
  if (parameters === undefined) return '<none>';
  const { kind, apiGroup, name } = parameters;
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`;
}

export const ingressClassKind: Kind<IngressClass> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  singular: 'ingressclass',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'IngressClass',
  storage: { resource: 'networking.k8s.io/ingressclasses' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults: ({ spec: { parameters } }) => {
    if (parameters !== undefined) parameters.scope ??= 'Cluster';
  },
  validate,
  validateUpdate: ({ spec }, old) => immutable(spec.controller, old.spec.controller, 'spec.controller'),
  checks: { update: ['metadataChange', 'change', 'metadata', 'object'] },
  hasGeneration: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    {
      ...nameColumn,
      cell: ({ metadata }) => `${metadata.name ?? ''}${metadata.annotations?.[DEFAULT_ANNOTATION] === 'true' ? ' (default)' : ''}`,
    },
    textColumn('Controller', ({ spec }) => spec.controller ?? ''),
    textColumn('Parameters', parametersCell),
    ageColumn,
  ],
};
