import { duplicate, type FieldError, invalid, notSupported, required } from '../../field-error.ts';
import type { ServiceSpec } from '../../generated/types.ts';
import { isIpv4, parseIp, validateLegacyIp } from '../../validation/ip.ts';
import { repeats } from '../../validation/repeats.ts';

/** The addresses of a service within the cluster, and the families they are of. */

const families = ['IPv4', 'IPv6'];
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const NONE = 'None';
const MAX_ADDRESSES = 2;

/** A service without an address of its own: its name stands for its pods. */
export const isHeadless = ({ clusterIPs }: ServiceSpec): boolean => clusterIPs?.length === 1 && clusterIPs[0] === NONE;

const isIpv6 = (text: string): boolean => {
  const ip = parseIp(text);
  return ip !== undefined && !isIpv4(ip);
};

export function validateClusterIps(spec: ServiceSpec, old: ServiceSpec | undefined): FieldError[] {
  if (spec.type === 'ExternalName') return [];
  const addresses = spec.clusterIPs ?? [];
  const errors = [...validateFirstAddress(spec, addresses), ...validateFamilies(spec)];
  const wrong = validateAddresses(addresses, old?.clusterIPs ?? []);
  errors.push(...wrong);
  if (addresses.length > MAX_ADDRESSES) errors.push(invalid('spec.clusterIPs', addresses, 'may only hold up to 2 values'));
  // With an invalid address among them, errors about the whole list would mislead.
  return wrong.length > 0 ? errors : [...errors, ...validateDualStack(spec, addresses)];
}

function validateFirstAddress({ clusterIP = '' }: ServiceSpec, addresses: readonly string[]): FieldError[] {
  if (clusterIP === '') return addresses.length === 0 ? [] : [invalid('spec.clusterIPs', addresses, 'must be empty when `clusterIP` is not specified')];
  if (addresses.length === 0) return [required('spec.clusterIPs')];
  return addresses[0] === clusterIP ? [] : [invalid('spec.clusterIPs', addresses, 'first value must match `clusterIP`')];
}

function validateFamilies({ ipFamilies = [], ipFamilyPolicy }: ServiceSpec): FieldError[] {
  const isRepeated = repeats(ipFamilies);
  const errors = ipFamilies.flatMap((family, i) => [
    ...(families.includes(family) ? [] : [notSupported(`spec.ipFamilies[${i}]`, family, families)]),
    ...(isRepeated[i] ? [duplicate(`spec.ipFamilies[${i}]`, family)] : []),
  ]);
  if (ipFamilyPolicy !== undefined && !policies.includes(ipFamilyPolicy)) errors.push(notSupported('spec.ipFamilyPolicy', ipFamilyPolicy, policies));
  return errors;
}

function validateAddresses(addresses: readonly string[], old: readonly string[]): FieldError[] {
  return addresses.flatMap((address, i) => {
    if (i > 0 || address !== NONE) return validateLegacyIp(address, `spec.clusterIPs[${i}]`, old);
    return addresses.length > 1 ? [invalid('spec.clusterIPs', addresses, "'None' must be the first and only value")] : [];
  });
}

function validateDualStack(spec: ServiceSpec, addresses: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  const isDual = addresses.some(isIpv6) && addresses.some((address) => !isIpv6(address));
  if (addresses.length > 1 && !isDual) errors.push(invalid('spec.clusterIPs', addresses, 'may specify no more than one IP for each IP family'));
  if (isHeadless(spec)) return errors;
  for (const [i, family] of (spec.ipFamilies ?? []).entries()) {
    const address = addresses[i];
    if (address === undefined || !families.includes(family) || isIpv6(address) === (family === 'IPv6')) continue;
    errors.push(invalid(`spec.clusterIPs[${i}]`, address, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``));
  }
  return errors;
}

/** A second address can be added and taken away; the first stays. */
export function validateClusterIpChange(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName' || (isHeadless(old) && isHeadless(spec))) return [];
  const [after, before] = [spec.clusterIPs ?? [], old.clusterIPs ?? []];
  const changed = (i: number): FieldError => invalid(`spec.clusterIPs[${i}]`, after, 'may not change once set');
  if (after.length === before.length) return before.flatMap((address, i) => (address === after[i] ? [] : [changed(i)]));
  const errors: FieldError[] = [];
  if (after.length === 0) errors.push(invalid('spec.clusterIPs[0]', after, 'primary clusterIP can not be unset'));
  else if (before.length > 0 && after[0] !== before[0]) errors.push(changed(0));
  if (after.length < before.length && after.length === 1) errors.push(...releasesSecond(spec, 'clusterIP'));
  return errors;
}

export function validateFamilyChange(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName' || isHeadless(old) || isHeadless(spec)) return [];
  const [after, before] = [spec.ipFamilies ?? [], old.ipFamilies ?? []];
  const field = 'spec.ipFamilies[0]';
  if (after.length === before.length) {
    return before.flatMap((family, i) => (family === after[i] ? [] : [invalid(field, after, 'may not change once set')]));
  }
  const errors: FieldError[] = [];
  if (after.length < before.length && (spec.clusterIPs ?? []).length === 0) errors.push(invalid(field, after, 'primary ipFamily can not be unset'));
  if (after.length > 0 && before.length > 0 && after[0] !== before[0]) errors.push(invalid(field, spec.clusterIPs, 'may not change once set'));
  if (after.length < before.length && after.length === 1) errors.push(...releasesSecond(spec, 'ipFamily'));
  return errors;
}

function releasesSecond({ ipFamilyPolicy }: ServiceSpec, what: 'clusterIP' | 'ipFamily'): FieldError[] {
  if (ipFamilyPolicy === 'SingleStack') return [];
  return [invalid('spec.ipFamilyPolicy', ipFamilyPolicy, `must be set to 'SingleStack' when releasing the secondary ${what}`)];
}
