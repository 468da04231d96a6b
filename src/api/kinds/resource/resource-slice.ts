import { type FieldError, invalid, required } from '../../field-error.ts';
import type { Device, NodeSelector, ResourcePool, ResourceSlice, ResourceSliceSpec } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { dnsSubdomain } from '../../validation/field-rules.ts';
import { immutable } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { validateNodeSelector } from '../../validation/node-selector.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { timestamp } from '../timestamps.ts';
import { validateCounterSet, validateDevice } from './device.ts';
import { validateList } from './lists.ts';
import { validateDriverName, validatePoolName } from './names.ts';

const MAX_DEVICES = 128;
const MAX_COUNTER_SETS = 8;
/** Of devices with taints or counters. */
const MAX_ADVANCED_DEVICES = 64;

const isAdvanced = ({ taints = [], consumesCounters = [] }: Device): boolean => taints.length + consumesCounters.length > 0;

function validateSpec(spec: ResourceSliceSpec): FieldError[] {
  const { driver, pool, devices, sharedCounters } = spec;
  const perDevice = spec.perDeviceNodeSelection === true;
  const both = devices !== undefined && sharedCounters !== undefined;
  return [
    ...validateDriverName(driver, 'spec.driver'),
    ...validatePool(pool, 'spec.pool'),
    ...validateNodes(spec),
    ...(both ? [invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed')] : []),
    ...validateList(devices ?? [], {
      field: 'spec.devices',
      max: devices?.some(isAdvanced) === true ? MAX_ADVANCED_DEVICES : MAX_DEVICES,
      validate: (device, at) => [...validateDevice(device, at), ...validateDeviceNodes(device, at, perDevice)],
      key: ({ name }) => name,
    }),
    ...validateList(sharedCounters ?? [], {
      field: 'spec.sharedCounters',
      max: MAX_COUNTER_SETS,
      validate: validateCounterSet,
      key: ({ name }) => name,
    }),
  ];
}

function validatePool({ name, resourceSliceCount, generation }: ResourcePool, field: string): FieldError[] {
  return [
    ...validatePoolName(name, `${field}.name`),
    ...(resourceSliceCount <= 0 ? [invalid(`${field}.resourceSliceCount`, resourceSliceCount, 'must be greater than zero')] : []),
    ...(generation < 0 ? [invalid(`${field}.generation`, generation, 'must be greater than or equal to zero')] : []),
  ];
}

interface NodeFields {
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly allNodes?: boolean;
  readonly perDeviceNodeSelection?: boolean;
}

/** Where the devices are: exactly one of the fields says it. */
function validateNodes(spec: ResourceSliceSpec): FieldError[] {
  const rule = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
  const terms = spec.nodeSelector?.nodeSelectorTerms ?? [];
  return [
    ...validateNodeFields(spec, 'spec', 'must be either unset or set to a non-empty string'),
    ...(spec.nodeSelector !== undefined && terms.length !== 1
      ? [invalid('spec.nodeSelector.nodeSelectorTerms', terms, 'must have exactly one node selector term')]
      : []),
    ...exactlyOne(spec, 'spec', { none: rule, many: `${rule}, but multiple fields are set` }),
  ];
}

function validateDeviceNodes(device: Device, field: string, perDevice: boolean): FieldError[] {
  const { nodeName, nodeSelector, allNodes } = device;
  if (perDevice) {
    const rule = 'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
    return [...validateNodeFields(device, field, 'must not be empty'), ...exactlyOne(device, field, { none: rule, many: rule })];
  }
  if (nodeName === undefined && nodeSelector === undefined && allNodes === undefined) return [];
  const why = '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  return [invalid(field, null, why)];
}

function validateNodeFields({ nodeName, nodeSelector, allNodes, perDeviceNodeSelection }: NodeFields, field: string, empty: string): FieldError[] {
  const unset = 'must be either unset or set to true';
  return [
    ...(nodeName === undefined ? [] : nodeName === '' ? [invalid(`${field}.nodeName`, nodeName, empty)] : dnsSubdomain(nodeName, `${field}.nodeName`)),
    ...(nodeSelector === undefined ? [] : validateNodeSelector(nodeSelector, `${field}.nodeSelector`)),
    ...(allNodes === false ? [invalid(`${field}.allNodes`, allNodes, unset)] : []),
    ...(perDeviceNodeSelection === false ? [invalid(`${field}.perDeviceNodeSelection`, perDeviceNodeSelection, unset)] : []),
  ];
}

function exactlyOne(fields: NodeFields, field: string, { none, many }: { readonly none: string; readonly many: string }): FieldError[] {
  const set = [
    ...((fields.nodeName ?? '') === '' ? [] : ['`nodeName`']),
    ...(fields.nodeSelector === undefined ? [] : ['`nodeSelector`']),
    ...(fields.allNodes === true ? ['`allNodes`'] : []),
    ...(fields.perDeviceNodeSelection === true ? ['`perDeviceNodeSelection`'] : []),
  ];
  if (set.length === 1) return [];
  return set.length === 0 ? [required(field, none)] : [invalid(field, `{${set.join(', ')}}`, many)];
}

const validateChange = ({ spec }: ResourceSlice, { spec: old }: ResourceSlice): FieldError[] => [
  ...immutable(spec.pool.name, old.pool.name, 'spec.pool.name'),
  ...immutable(spec.driver, old.driver, 'spec.driver'),
  ...immutable(spec.nodeName, old.nodeName, 'spec.nodeName'),
];

/** Fields of features that are off in Kubernetes 1.36: lists as attributes, and resources of the node. */
function dropDisabledFields({ spec: { devices = [] } }: ResourceSlice): void {
  for (const device of devices) {
    delete device.nodeAllocatableResourceMappings;
    for (const attribute of Object.values(device.attributes ?? {})) {
      for (const list of ['ints', 'bools', 'strings', 'versions'] as const) delete attribute[list];
    }
  }
}

export const resourceSliceKind: Kind<ResourceSlice> = {
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceSlice',
  plural: 'resourceslices',
  singular: 'resourceslice',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'ResourceSlice',
  storage: { resource: 'resource.k8s.io/resourceslices' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  prepareForCreate: (slice, now) => {
    dropDisabledFields(slice);
    for (const { taints = [] } of slice.spec.devices ?? []) for (const taint of taints) taint.timeAdded ??= timestamp(now);
  },
  prepareForUpdate: dropDisabledFields,
  validate: ({ spec }) => validateSpec(spec),
  validateUpdate: validateChange,
  checks: { update: ['metadataChange', 'object', 'change'] },
  hasGeneration: true,
  unconditionalUpdate: true,
  selectableFields: { 'spec.nodeName': ({ spec }) => spec.nodeName ?? '', 'spec.driver': ({ spec }) => spec.driver },
  columns: [
    nameColumn,
    textColumn('Node', ({ spec }) => spec.nodeName ?? ''),
    textColumn('Driver', ({ spec }) => spec.driver),
    textColumn('Pool', ({ spec }) => spec.pool.name),
    ageColumn,
  ],
};
