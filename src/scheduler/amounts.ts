import type { Node, Pod } from '../api/generated/types.ts';
import { podRequests } from '../api/kinds/pod/pod-resources.ts';
import { parseQuantity, type Quantity, quantityMilliValue, quantityValue } from '../api/quantity.ts';
import { withResizes } from '../api/quota/resized-pods.ts';
import { isExtendedResource, isHugePages } from '../api/validation/resources.ts';

/** Resource amounts as plain numbers, which are faster to compare than quantities (framework.Resource). */
export interface Amounts {
  /** Millicores. */
  cpu: number;
  memory: number;
  ephemeralStorage: number;
  /** Of a node: the pods that it allows. */
  pods: number;
  /** Extended resources, huge pages and other scalar resources, by name. */
  scalars: Map<string, number> | undefined;
}

export const noAmounts = (): Amounts => ({ cpu: 0, memory: 0, ephemeralStorage: 0, pods: 0, scalars: undefined });

export function amountsOfQuantities(quantities: Iterable<readonly [string, Quantity]>): Amounts {
  const amounts = noAmounts();
  for (const [name, quantity] of quantities) {
    switch (name) {
      case 'cpu':
        amounts.cpu += Number(quantityMilliValue(quantity));
        break;
      case 'memory':
        amounts.memory += Number(quantityValue(quantity));
        break;
      case 'ephemeral-storage':
        amounts.ephemeralStorage += Number(quantityValue(quantity));
        break;
      case 'pods':
        amounts.pods += Number(quantityValue(quantity));
        break;
      default:
        if (isScalar(name)) addScalar(amounts, name, Number(quantityValue(quantity)));
    }
  }
  return amounts;
}

/** Of status.allocatable. */
export const nodeAmounts = ({ status }: Node): Amounts =>
  amountsOfQuantities(Object.entries(status.allocatable ?? {}).map(([name, text]) => [name, parseQuantity(text)] as const));

/** The pod's requests; during a resize, the larger of requested and allocated. */
export const podAmounts = (pod: Pod): Amounts => amountsOfQuantities(podRequests(withResizes(pod)));

/** IsScalarResourceName. */
const isScalar = (name: string): boolean =>
  isExtendedResource(name) || isHugePages(name) || name.includes('kubernetes.io/') || name.startsWith('attachable-volumes-');

export function addAmountsTo(total: Amounts, more: Amounts, times: 1 | -1): void {
  total.cpu += times * more.cpu;
  total.memory += times * more.memory;
  total.ephemeralStorage += times * more.ephemeralStorage;
  if (more.scalars !== undefined) for (const [name, amount] of more.scalars) addScalar(total, name, times * amount);
}

function addScalar(total: Amounts, name: string, amount: number): void {
  total.scalars ??= new Map();
  total.scalars.set(name, (total.scalars.get(name) ?? 0) + amount);
}

export const copyAmounts = (amounts: Amounts): Amounts => ({ ...amounts, scalars: amounts.scalars === undefined ? undefined : new Map(amounts.scalars) });
