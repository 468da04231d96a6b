/** quantity(), as Kubernetes adds it to the language (v1.36.4: apiserver/pkg/cel/library/quantity.go). */
import type { Environment } from '@marcbachmann/cel-js';
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityOf,
  quantitySign,
  quantityToNumber,
  quantityValue,
  subtractQuantities,
} from '../quantity.ts';

class CelQuantity {
  readonly value: Quantity;
  constructor(value: Quantity) {
    this.value = value;
  }
}

const type = 'kubernetes.Quantity';
const maxInt64 = 2n ** 63n - 1n;

export function registerQuantities(environment: Environment): void {
  const compared = (name: string, result: string, of: (order: number) => boolean | bigint): void => {
    environment.registerFunction(`${type}.${name}(${type}): ${result}`, (a: CelQuantity, b: CelQuantity) => of(compareQuantities(a.value, b.value)));
  };
  const combined = (name: string, combine: (a: Quantity, b: Quantity) => Quantity): void => {
    environment
      .registerFunction(`${type}.${name}(${type}): ${type}`, (a: CelQuantity, b: CelQuantity) => new CelQuantity(combine(a.value, b.value)))
      .registerFunction(`${type}.${name}(int): ${type}`, (a: CelQuantity, b: bigint) => new CelQuantity(combine(a.value, quantityOf(b, 'DecimalExponent'))));
  };
  environment
    .registerType(type, { ctor: CelQuantity, fields: {} })
    .registerFunction(`quantity(string): ${type}`, (text: string) => new CelQuantity(parseQuantity(text)))
    .registerFunction('isQuantity(string): bool', isQuantity)
    .registerFunction(`sign(${type}): int`, ({ value }: CelQuantity) => BigInt(quantitySign(value)))
    .registerFunction(`${type}.sign(): int`, ({ value }: CelQuantity) => BigInt(quantitySign(value)))
    .registerFunction(`${type}.isInteger(): bool`, ({ value }: CelQuantity) => isInteger(value))
    .registerFunction(`${type}.asInteger(): int`, ({ value }: CelQuantity) => {
      if (!isInteger(value)) throw new Error('cannot convert value to integer');
      return quantityValue(value);
    })
    .registerFunction(`${type}.asApproximateFloat(): double`, ({ value }: CelQuantity) => quantityToNumber(value))
    .registerOperator(`${type} == ${type}`, (a: CelQuantity, b: CelQuantity) => compareQuantities(a.value, b.value) === 0);
  compared('compareTo', 'int', BigInt);
  compared('isLessThan', 'bool', (order) => order < 0);
  compared('isGreaterThan', 'bool', (order) => order > 0);
  combined('add', addQuantities);
  combined('sub', subtractQuantities);
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch {
    return false;
  }
}

/** By its notation: '1000m' is no integer. */
const isInteger = ({ unscaled, exponent }: Quantity): boolean => {
  if (exponent < 0 || exponent > 18) return unscaled === 0n;
  const value = unscaled * 10n ** BigInt(exponent);
  return value <= maxInt64 && value >= -maxInt64 - 1n;
};
