import { formatQuantity, parseQuantity, type Quantity, QuantityError, quantityOf } from '../quantity.ts';

export const zero: Quantity = quantityOf(0, 'BinarySI');

/** The `storage` of a resource list; undefined if it is missing or no quantity. */
export function storageAmount(resources: Readonly<Record<string, string>> | undefined): Quantity | undefined {
  const text = resources?.['storage'];
  return text === undefined ? undefined : readQuantity(text);
}

export function readQuantity(text: string): Quantity | undefined {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

export const showAmount = (amount: Quantity | undefined): string => (amount === undefined ? 'no capacity' : formatQuantity(amount));
