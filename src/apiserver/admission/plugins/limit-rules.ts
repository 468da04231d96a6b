/** Violations of a LimitRange and their messages. Pure. */
import type { LimitRangeItem } from '../../../api/generated/types.ts';
import { compareQuantities, quantityToNumber } from '../../../api/quantity.ts';

export type Amounts = Readonly<Record<string, string>>;

export interface RequestsAndLimits {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

export function violations({ type, min = {}, max = {}, maxLimitRequestRatio = {} }: LimitRangeItem, given: RequestsAndLimits): string[] {
  return [
    ...entries(min).flatMap(([resource, bound]) => belowMinimum(`minimum ${resource} usage per ${type} is ${bound}`, bound, of(given, resource))),
    ...entries(max).flatMap(([resource, bound]) => aboveMaximum(`maximum ${resource} usage per ${type} is ${bound}`, bound, of(given, resource))),
    ...entries(maxLimitRequestRatio).flatMap(([resource, bound]) =>
      aboveRatio(`${resource} max limit to request ratio per ${type} is ${bound}`, bound, of(given, resource)),
    ),
  ];
}

/** For PVCs, which have no limits: only the request is compared. */
export function maximumOfRequest(type: string, max: Amounts, requests: Amounts): string[] {
  return entries(max).flatMap(([resource, bound]) => {
    const rule = `maximum ${resource} usage per ${type} is ${bound}`;
    const request = amountOf(requests, resource);
    if (request === undefined) return [`${rule}.  No request is specified`];
    return compareQuantities(request, bound) > 0 ? [`${rule}, but request is ${request}`] : [];
  });
}

interface Pair {
  readonly request: string | undefined;
  readonly limit: string | undefined;
}

const of = ({ requests, limits }: RequestsAndLimits, resource: string): Pair => ({ request: amountOf(requests, resource), limit: amountOf(limits, resource) });

/** Own properties only: a resource may be called 'constructor'. */
const amountOf = (amounts: Amounts, resource: string): string | undefined => (Object.hasOwn(amounts, resource) ? amounts[resource] : undefined);

const entries = (amounts: Amounts): [string, string][] => Object.entries(amounts).sort(([a], [b]) => (a < b ? -1 : 1));

function belowMinimum(rule: string, bound: string, { request, limit }: Pair): string[] {
  if (request === undefined) return [`${rule}.  No request is specified`];
  if (compareQuantities(request, bound) < 0) return [`${rule}, but request is ${request}`];
  return limit !== undefined && compareQuantities(limit, bound) < 0 ? [`${rule}, but limit is ${limit}`] : [];
}

function aboveMaximum(rule: string, bound: string, { request, limit }: Pair): string[] {
  if (limit === undefined) return [`${rule}.  No limit is specified`];
  if (compareQuantities(limit, bound) > 0) return [`${rule}, but limit is ${limit}`];
  return request !== undefined && compareQuantities(request, bound) > 0 ? [`${rule}, but request is ${request}`] : [];
}

function aboveRatio(rule: string, bound: string, { request, limit }: Pair): string[] {
  const requested = request === undefined ? 0 : quantityToNumber(request);
  const granted = limit === undefined ? 0 : quantityToNumber(limit);
  if (requested === 0) return [`${rule}, but no request is specified or request is 0`];
  if (granted === 0) return [`${rule}, but no limit is specified or limit is 0`];
  const ratio = granted / requested;
  return ratio > quantityToNumber(bound) ? [`${rule}, but provided ratio is ${ratio.toFixed(6)}`] : [];
}
