import type { ResourceRequirements } from '../../generated/types.ts';
import { addQuantities, compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../../quantity.ts';
import { roundUpResourceList } from '../resource-list.ts';

/** What is asked for or allowed of each resource. */
export type ResourceAmounts = Map<string, Quantity>;
type ResourceList = Readonly<Record<string, string>>;

export const amountsOf = (list: ResourceList | undefined): ResourceAmounts =>
  new Map(Object.entries(list ?? {}).map(([name, quantity]) => [name, parseQuantity(quantity)]));

export function toResourceList(amounts: ReadonlyMap<string, Quantity>): Record<string, string> {
  return Object.fromEntries([...amounts].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

export function addAmounts(total: ResourceAmounts, more: ReadonlyMap<string, Quantity>): void {
  for (const [name, quantity] of more) {
    const current = total.get(name);
    total.set(name, current === undefined ? quantity : addQuantities(current, quantity));
  }
}

/** Raises each amount to that of another list, where that is more. */
export function raiseAmounts(total: ResourceAmounts, others: ReadonlyMap<string, Quantity>): void {
  for (const [name, quantity] of others) {
    const current = total.get(name);
    if (current === undefined || compareQuantities(quantity, current) > 0) total.set(name, quantity);
  }
}

/** Both lists of a container, a pod or a claim. */
export function roundUpResources(resources: Pick<ResourceRequirements, 'limits' | 'requests'>): void {
  roundUpResourceList(resources.limits);
  roundUpResourceList(resources.requests);
}
