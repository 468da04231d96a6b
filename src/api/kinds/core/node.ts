import { type FieldError, forbidden, invalid, notOneOf, required } from '../../field-error.ts';
import type { Node, Taint } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { cidrWarnings, isIpv4, parseCidr, validateLegacyCidr } from '../../validation/ip.ts';
import { validateLabelName } from '../../validation/labels.ts';
import { labelValueProblems, nameIsDnsSubdomain, SUBDOMAIN_MAX_LENGTH } from '../../validation/names.ts';
import { validateResourceQuantity } from '../../validation/resources.ts';
import { byteLength } from '../../validation/text.ts';
import { ageColumn, nameColumn, textColumn, wideColumn } from '../../printer-columns.ts';
import { roundUpResourceList } from '../resource-list.ts';
import { everyVerb } from '../../verbs.ts';

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const ROLE_LABEL_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';
const onlyOnce = (field: string): string => `node updates may not change ${field} except from "" to valid`;

function defaults({ spec, status }: Node): void {
  // The list is what counts, but a client that knows only of one range decides over it.
  const [first] = spec.podCIDRs ?? [];
  if (spec.podCIDR !== undefined && spec.podCIDR !== '' && spec.podCIDR !== first) spec.podCIDRs = [spec.podCIDR];
  else if (first !== undefined) spec.podCIDR = first;
  if (status.allocatable === undefined && status.capacity !== undefined) status.allocatable = { ...status.capacity };
  roundUpResourceList(status.capacity);
  roundUpResourceList(status.allocatable);
}

/** Configuring kubelets through the API is a feature of the past. */
function dropConfig(node: Node): void {
  delete node.spec.configSource;
  delete node.status.config;
}

function validate(node: Node): FieldError[] {
  const { spec, status } = node;
  return [
    ...validateTaints(spec.taints ?? []),
    ...validateResources(node),
    ...((status.nodeInfo.swap?.capacity ?? 1) > 0
      ? []
      : [invalid('metadata.nodeSwapStatus.capacity', status.nodeInfo.swap?.capacity, 'must be greater than zero')]),
    ...validateDeclaredFeatures(status.declaredFeatures ?? [], 'status.declaredFeatures'),
    ...validatePodCidrs(spec.podCIDRs ?? [], 'spec.podCIDRs'),
  ];
}

/** Taints are part of the spec, but Kubernetes reports them below metadata. */
function validateTaints(taints: readonly Taint[]): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, i) => {
    const field = `metadata.taints[${i}]`;
    const { key, value = '', effect } = taint;
    const errors = validateLabelName(key, `${field}.key`);
    const wrongValue = labelValueProblems(value);
    if (wrongValue.length > 0) errors.push(invalid(`${field}.value`, value, wrongValue.join(';')));
    if (effect === '') errors.push(required(`${field}.effect`));
    else if (!taintEffects.includes(effect)) errors.push(notOneOf(`${field}.effect`, effect, taintEffects));
    const identity = JSON.stringify([effect, key]);
    if (seen.has(identity)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: taint.timeAdded ?? null };
      errors.push({ type: 'Duplicate', field, value: shown, detail: 'taints must be unique by key and effect pair' });
    }
    seen.add(identity);
    return errors;
  });
}

function validateResources({ status }: Node): FieldError[] {
  return (['capacity', 'allocatable'] as const).flatMap((list) =>
    Object.entries(status[list] ?? {}).flatMap(([name, quantity]) => validateResourceQuantity(name, quantity, `status.${list}.${name}`)),
  );
}

/** In order, each once, and named like 'MyFeature/mySubFeature'. */
function validateDeclaredFeatures(features: readonly string[], field: string): FieldError[] {
  return features.flatMap((feature, i) => {
    const problem = featureNameProblem(feature);
    const errors = problem === undefined ? [] : [invalid(`${field}[${i}]`, feature, `invalid feature name ${JSON.stringify(feature)}: ${problem}`)];
    const next = features[i + 1];
    if (next === feature) errors.push({ type: 'Duplicate', field: `${field}[${i + 1}]`, value: next, detail: '' });
    else if (next !== undefined && feature > next) errors.push(invalid(`${field}[${i + 1}]`, next, 'list must be sorted alphabetically'));
    return errors;
  });
}

function featureNameProblem(name: string): string | undefined {
  if (byteLength(name) > SUBDOMAIN_MAX_LENGTH) return `must be no more than ${SUBDOMAIN_MAX_LENGTH} characters`;
  if (/^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/.test(name)) return undefined;
  const example = "separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
  return `must start with an UpperCamelCase segment, with subsequent segments ${example}`;
}

/** One range for each family of addresses. */
function validatePodCidrs(cidrs: readonly string[], field: string): FieldError[] {
  const errors = cidrs.flatMap((cidr, i) => validateLegacyCidr(cidr, `${field}[${i}]`));
  if (cidrs.length < 2) return errors;
  const parsed = cidrs.map(parseCidr);
  const broken = cidrs.find((_, i) => parsed[i] === undefined);
  if (broken !== undefined) {
    const detail = `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${cidrs.indexOf(broken)}]: <nil> (invalid CIDR address: ${broken})`;
    errors.push({ type: 'InternalError', field, detail });
  }
  const families = parsed.map((cidr) => cidr !== undefined && isIpv4(cidr.ip));
  const isDual = broken === undefined && families.includes(true) && families.includes(false);
  return isDual && cidrs.length === 2 ? errors : [...errors, invalid(field, cidrs, 'may specify no more than one CIDR for each IP family')];
}

/** Both for the node and for its status; much of it was checked already. */
function validateUpdate(node: Node, old: Node): FieldError[] {
  return [
    ...validateResources(node),
    ...validateDeclaredFeatures(node.status.declaredFeatures ?? [], 'status.declaredFeatures'),
    ...validateAddresses(node),
    ...validatePodCidrChange(node.spec.podCIDRs ?? [], old.spec.podCIDRs ?? []),
    ...((old.spec.providerID ?? '') !== '' && old.spec.providerID !== node.spec.providerID ? [forbidden('spec.providerID', onlyOnce('providerID'))] : []),
    ...validateTaints(node.spec.taints ?? []),
    ...((node.spec.externalID ?? '') === (old.spec.externalID ?? '') ? [] : [forbidden('spec.externalID', 'may not be updated')]),
  ];
}

function validateAddresses({ status }: Node): FieldError[] {
  const seen = new Set<string>();
  return (status.addresses ?? []).flatMap(({ type, address }, i) => {
    const identity = JSON.stringify([type, address]);
    const errors: FieldError[] = seen.has(identity)
      ? [{ type: 'Duplicate', field: `status.addresses[${i}]`, value: { Type: type, Address: address }, detail: '' }]
      : [];
    seen.add(identity);
    return errors;
  });
}

function validatePodCidrChange(cidrs: readonly string[], old: readonly string[]): FieldError[] {
  if (old.length === 0) return [];
  const error = forbidden('spec.podCIDRs', onlyOnce('podCIDR'));
  return cidrs.length === old.length ? old.filter((cidr, i) => cidr !== cidrs[i]).map(() => error) : [error];
}

function warnings({ spec }: Node): string[] {
  const found = (spec.podCIDRs ?? []).flatMap((cidr, i) => cidrWarnings(cidr, `spec.podCIDRs[${i}]`));
  return (spec.externalID ?? '') === '' ? found : ['spec.externalID: this field is deprecated, and is unused by Kubernetes', ...found];
}

function statusOf({ spec, status }: Node): string {
  const ready = status.conditions?.findLast(({ type }) => type === 'Ready');
  const readiness = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec.unschedulable === true ? `${readiness},SchedulingDisabled` : readiness;
}

function rolesOf({ metadata }: Node): string {
  const roles = Object.entries(metadata.labels ?? {}).map(([key, value]) =>
    key.startsWith(ROLE_LABEL_PREFIX) ? key.slice(ROLE_LABEL_PREFIX.length) : key === ROLE_LABEL ? value : '',
  );
  return (
    [...new Set(roles)]
      .filter((role) => role !== '')
      .sort()
      .join(',') || '<none>'
  );
}

const addressOf = ({ status }: Node, wanted: string): string => status.addresses?.find(({ type }) => type === wanted)?.address ?? '<none>';

function kernelOf({ status: { nodeInfo } }: Node): string {
  const kernel = nodeInfo.kernelVersion || '<unknown>';
  return nodeInfo.architecture === '' ? kernel : `${kernel} (${nodeInfo.architecture})`;
}

export const nodeKind: Kind<Node> = {
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  singular: 'node',
  shortNames: ['no'],
  categories: [],
  namespaced: false,
  type: 'Node',
  storage: { resource: 'nodes' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  // A kubelet sets the status as well when it registers its node.
  prepareForCreate: dropConfig,
  prepareForUpdate: dropConfig,
  validate,
  validateUpdate,
  warnings,
  status: { prepareForUpdate: dropConfig, validateUpdate },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: { 'spec.unschedulable': (node) => String(node.spec.unschedulable ?? false) },
  columns: [
    nameColumn,
    textColumn('Status', statusOf),
    textColumn('Roles', rolesOf),
    ageColumn,
    textColumn('Version', (node) => node.status.nodeInfo.kubeletVersion),
    wideColumn('Internal-IP', (node) => addressOf(node, 'InternalIP')),
    wideColumn('External-IP', (node) => addressOf(node, 'ExternalIP')),
    wideColumn('OS-Image', (node) => node.status.nodeInfo.osImage || '<unknown>'),
    wideColumn('Kernel-Version', kernelOf),
    wideColumn('Container-Runtime', (node) => node.status.nodeInfo.containerRuntimeVersion || '<unknown>'),
  ],
};
