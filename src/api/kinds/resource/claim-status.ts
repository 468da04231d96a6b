import { type FieldError, forbidden, invalid, notOneOf, required, tooLong, tooMany } from '../../field-error.ts';
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaimConsumerReference,
  ResourceResourceClaim,
} from '../../generated/types.ts';
import { parseCidr } from '../../validation/ip.ts';
import { validateConditions } from '../../validation/conditions.ts';
import { dnsLabel } from '../../validation/field-rules.ts';
import { immutable } from '../../validation/metadata.ts';
import { validateNodeSelector } from '../../validation/node-selector.ts';
import { type RequestNames, requestNamesOf, validateRequestReference, validateRequestReferences } from './claim-spec.ts';
import { validateBindingConditions } from './binding-conditions.ts';
import { validateList } from './lists.ts';
import { validateDriverName, validatePoolName } from './names.ts';
import { validateConfiguration, validateParameters } from './selectors.ts';

const MAX_CONSUMERS = 256;
const MAX_RESULTS = 32;
const MAX_CONFIGURATIONS = 64;
const MAX_CONDITIONS = 8;
const MAX_IPS = 16;
const MAX_INTERFACE_NAME = 256;
const MAX_HARDWARE_ADDRESS = 128;
const sources = ['FromClaim', 'FromClass'];

type DeviceIdentity = Pick<AllocatedDeviceStatus, 'driver' | 'pool' | 'device' | 'shareID'>;
const identityOf = ({ driver, pool, device, shareID }: DeviceIdentity): string => `${driver}/${pool}/${device}${shareID === undefined ? '' : `/${shareID}`}`;

export function validateClaimStatus({ metadata, spec, status }: ResourceResourceClaim, old: ResourceResourceClaim): FieldError[] {
  const { reservedFor = [], allocation, devices = [] } = status;
  const allocated = new Set((allocation?.devices.results ?? []).map(identityOf));
  const isDeleted = metadata.deletionTimestamp !== undefined;
  return [
    ...validateList(reservedFor, { field: 'status.reservedFor', max: MAX_CONSUMERS, validate: validateConsumer, key: ({ uid }) => uid }),
    ...validateList(devices, { field: 'status.devices', validate: (device, at) => validateDevice(device, at, allocated), key: identityOf }),
    ...validateReservation(status, { isDeleted, before: old.status.reservedFor ?? [] }),
    ...(allocation === undefined ? [] : validateAllocationChange(allocation, old.status.allocation, requestNamesOf(spec.devices))),
  ];
}

function validateConsumer({ resource, name, uid }: ResourceClaimConsumerReference, field: string): FieldError[] {
  return Object.entries({ resource, name, uid }).flatMap(([key, value]) => (value === '' ? [required(`${field}.${key}`)] : []));
}

function validateReservation(
  { reservedFor = [], allocation }: ResourceResourceClaim['status'],
  { isDeleted, before }: { readonly isDeleted: boolean; readonly before: readonly ResourceClaimConsumerReference[] },
): FieldError[] {
  if (reservedFor.length === 0) return [];
  if (allocation === undefined) return [forbidden('status.reservedFor', 'may not be specified when `allocated` is not set')];
  const known = new Set(before.map(({ uid }) => uid));
  if (!isDeleted || reservedFor.every(({ uid }) => known.has(uid))) return [];
  return [forbidden('status.reservedFor', 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set')];
}

/** An allocation is made once; it may be taken away, but not changed. */
function validateAllocationChange(allocation: AllocationResult, old: AllocationResult | undefined, names: RequestNames): FieldError[] {
  const field = 'status.allocation';
  if (old !== undefined) return immutable(allocation, old, field);
  const { results = [], config = [] } = allocation.devices;
  return [
    ...validateList(results, { field: `${field}.devices.results`, max: MAX_RESULTS, validate: (result, at) => validateResult(result, at, names) }),
    ...validateList(config, {
      field: `${field}.devices.config`,
      max: MAX_CONFIGURATIONS,
      validate: (item, at) => [
        ...(item.source === '' ? [required(`${at}.source`)] : sources.includes(item.source) ? [] : [notOneOf(`${at}.source`, item.source, sources)]),
        ...validateRequestReferences(item.requests ?? [], `${at}.requests`, names),
        ...validateConfiguration(item, at),
      ],
    }),
    ...(allocation.nodeSelector === undefined ? [] : validateNodeSelector(allocation.nodeSelector, `${field}.nodeSelector`)),
  ];
}

function validateResult(result: DeviceRequestAllocationResult, field: string, names: RequestNames): FieldError[] {
  const { request, driver, pool, device, shareID } = result;
  return [
    ...validateRequestReference(request, `${field}.request`, names),
    ...validateDriverName(driver, `${field}.driver`),
    ...validatePoolName(pool, `${field}.pool`),
    ...dnsLabel(device, `${field}.device`),
    ...validateBindingConditions(result, field),
    ...(shareID === undefined || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(shareID)
      ? []
      : [
          invalid(
            `${field}.shareID`,
            shareID,
            'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters',
          ),
        ]),
  ];
}

function validateDevice(device: AllocatedDeviceStatus, field: string, allocated: ReadonlySet<string>): FieldError[] {
  const conditions = device.conditions ?? [];
  return [
    ...validateDriverName(device.driver, `${field}.driver`),
    ...validatePoolName(device.pool, `${field}.pool`),
    ...dnsLabel(device.device, `${field}.device`),
    ...(allocated.has(identityOf(device)) ? [] : [invalid(field, identityOf(device), 'must be an allocated device in the claim')]),
    ...(conditions.length > MAX_CONDITIONS ? [tooMany(`${field}.conditions`, conditions.length, MAX_CONDITIONS)] : []),
    ...validateConditions(conditions, `${field}.conditions`),
    ...(device.data === undefined ? [] : validateParameters(device.data, `${field}.data`)),
    ...(device.networkData === undefined ? [] : validateNetworkData(device.networkData, `${field}.networkData`)),
  ];
}

function validateNetworkData({ interfaceName = '', hardwareAddress = '', ips = [] }: NetworkDeviceData, field: string): FieldError[] {
  return [
    ...(interfaceName.length > MAX_INTERFACE_NAME ? [tooLong(`${field}.interfaceName`, MAX_INTERFACE_NAME)] : []),
    ...(hardwareAddress.length > MAX_HARDWARE_ADDRESS ? [tooLong(`${field}.hardwareAddress`, MAX_HARDWARE_ADDRESS)] : []),
    ...validateList(ips, { field: `${field}.ips`, max: MAX_IPS, validate: validateInterfaceAddress, key: (ip) => ip }),
  ];
}

/** An address of an interface has the length of its network's prefix behind it: 10.1.2.3/24. */
const validateInterfaceAddress = (address: string, field: string): FieldError[] =>
  parseCidr(address) === undefined ? [invalid(field, address, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)')] : [];
