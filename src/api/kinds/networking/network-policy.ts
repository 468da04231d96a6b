import { type FieldError, forbidden, invalid, notOneOf, required } from '../../field-error.ts';
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { portNameProblems, portNumberProblems } from '../../validation/formats.ts';
import { type Cidr, parseCidr, validateLegacyCidr } from '../../validation/ip.ts';
import { type LabelSelectorRules, validateLabelSelector } from '../../validation/labels.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { invalidEach } from '../../validation/field-rules.ts';
import { selectorCell } from '../../validation/label-selector.ts';

/** What need not be right, since it was there before. */
interface Rules {
  readonly selectors: LabelSelectorRules;
  readonly cidrs: readonly string[];
}

/** Ingress and egress rules have the same form: peers and ports. */
interface Rule {
  readonly field: string;
  readonly ports: readonly NetworkPolicyPort[];
  readonly peers: readonly NetworkPolicyPeer[];
  readonly peersName: 'from' | 'to';
}

function rulesOf({ ingress = [], egress = [] }: NetworkPolicySpec): Rule[] {
  return [
    ...ingress.map(({ ports = [], from = [] }, i): Rule => ({ field: `spec.ingress[${i}]`, ports, peers: from, peersName: 'from' })),
    ...egress.map(({ ports = [], to = [] }, i): Rule => ({ field: `spec.egress[${i}]`, ports, peers: to, peersName: 'to' })),
  ];
}

const policyTypes = ['Ingress', 'Egress'];

function validate({ spec }: NetworkPolicy, rules: Rules): FieldError[] {
  const types = spec.policyTypes ?? [];
  return [
    ...validateLabelSelector(spec.podSelector, 'spec.podSelector', rules.selectors),
    ...rulesOf(spec).flatMap(({ field, ports, peers, peersName }) => [
      ...ports.flatMap((port, i) => validatePort(port, `${field}.ports[${i}]`)),
      ...peers.flatMap((peer, i) => validatePeer(peer, `${field}.${peersName}[${i}]`, rules)),
    ]),
    ...(types.length > policyTypes.length
      ? [invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')]
      : types.flatMap((type, i) => (policyTypes.includes(type) ? [] : [notOneOf(`spec.policyTypes[${i}]`, type, policyTypes)]))),
  ];
}

const protocols = ['TCP', 'UDP', 'SCTP'];

function validatePort({ protocol, port, endPort }: NetworkPolicyPort, field: string): FieldError[] {
  const errors = protocol === undefined || protocols.includes(protocol) ? [] : [notOneOf(`${field}.protocol`, protocol, protocols)];
  const end = `${field}.endPort`;
  if (port === undefined) return endPort === undefined ? errors : [...errors, invalid(end, endPort, 'may not be specified when `port` is not specified')];
  if (typeof port === 'string') {
    if (endPort !== undefined) errors.push(invalid(end, endPort, 'may not be specified when `port` is non-numeric'));
    return [...errors, ...invalidEach(`${field}.port`, port, portNameProblems(port))];
  }
  errors.push(...invalidEach(`${field}.port`, port, portNumberProblems(port)));
  if (endPort === undefined) return errors;
  // Kubernetes shows the port here.
  if (endPort < port) errors.push(invalid(end, port, 'must be greater than or equal to `port`'));
  return [...errors, ...invalidEach(end, endPort, portNumberProblems(endPort))];
}

function validatePeer({ podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, field: string, rules: Rules): FieldError[] {
  const errors = [
    ...validateLabelSelector(podSelector, `${field}.podSelector`, rules.selectors),
    ...validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`, rules.selectors),
    ...(ipBlock === undefined ? [] : validateBlock(ipBlock, `${field}.ipBlock`, rules.cidrs)),
  ];
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (ipBlock === undefined) return selects ? errors : [...errors, required(field, 'must specify a peer')];
  return selects ? [...errors, forbidden(field, 'may not specify both ipBlock and another peer')] : errors;
}

function validateBlock({ cidr, except = [] }: IPBlock, field: string, known: readonly string[]): FieldError[] {
  if (cidr === '') return [required(`${field}.cidr`)];
  const errors = validateLegacyCidr(cidr, `${field}.cidr`, known);
  const whole = parseCidr(cidr);
  if (whole === undefined) return errors;
  return [
    ...errors,
    ...except.flatMap((text, i) => {
      const at = `${field}.except[${i}]`;
      const part = parseCidr(text);
      const outside = part !== undefined && !isStrictlyWithin(part, whole) ? [invalid(at, text, 'must be a strict subset of `cidr`')] : [];
      return [...validateLegacyCidr(text, at, known), ...outside];
    }),
  ];
}

function isStrictlyWithin(part: Cidr, whole: Cidr): boolean {
  const { bytes } = whole.ip;
  if (part.prefix <= whole.prefix || part.ip.bytes.length !== bytes.length) return false;
  for (let bit = 0; bit < whole.prefix; bit++) {
    const mask = 0x80 >> (bit % 8);
    const index = Math.floor(bit / 8);
    if (((part.ip.bytes[index] ?? 0) & mask) !== ((bytes[index] ?? 0) & mask)) return false;
  }
  return true;
}

const cidrsOf = ({ spec }: NetworkPolicy): string[] =>
  rulesOf(spec).flatMap(({ peers }) => peers.flatMap(({ ipBlock }) => (ipBlock === undefined ? [] : [ipBlock.cidr, ...(ipBlock.except ?? [])])));

export const networkPolicyKind: Kind<NetworkPolicy> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  singular: 'networkpolicy',
  shortNames: ['netpol'],
  categories: [],
  namespaced: true,
  type: 'NetworkPolicy',
  storage: { resource: 'networking.k8s.io/networkpolicies' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults: ({ spec }) => {
    for (const { ports } of rulesOf(spec)) for (const port of ports) port.protocol ??= 'TCP';
    if ((spec.policyTypes ?? []).length === 0) spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
  },
  validate: (policy) => validate(policy, { selectors: {}, cidrs: [] }),
  validateUpdate: (policy, old) => {
    const hadWrongSelector = validateLabelSelector(old.spec.podSelector, '').length > 0;
    return validate(policy, { selectors: { allowInvalidValues: hadWrongSelector }, cidrs: cidrsOf(old) });
  },
  checks: { update: ['metadataChange', 'change'] },
  hasGeneration: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [nameColumn, textColumn('Pod-Selector', ({ spec }) => selectorCell(spec.podSelector)), ageColumn],
};
