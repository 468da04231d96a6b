/** Karpenter's texts for a pod that gets no node (InstanceTypeFilterError). */
import { formatQuantity, quantityOf } from '../../api/quantity.ts';
import type { Amounts } from '../../scheduler/amounts.ts';
import { requirementsText } from '../requirements/requirements.ts';
import type { Refusal } from './planned-node.ts';

export function refusalText(refusal: Refusal): string {
  const { requirements, requests, exceeds, lacksValues } = refusal;
  const details = `requirements=${requirementsText(requirements)}, resources=${resourcesText(requests)}`;
  if (exceeds !== undefined) return `no instance type can attach enough volumes of driver ${exceeds}, ${details}`;
  if (lacksValues !== undefined) return `minValues requirement is not met for label(s) (label(s)=[${lacksValues}]), ${details}`;
  return `${reasonOf(refusal)}, ${details}`;
}

function reasonOf({ meetsRequirements, fits, isOffered }: Refusal): string {
  const missing = [
    ...(meetsRequirements ? [] : ['met the scheduling requirements']),
    ...(fits ? [] : ['had enough resources']),
    ...(isOffered ? [] : ['had a required offering']),
  ];
  if (missing.length > 1) return `no instance type ${missing.join(' or ')}`;
  if (!meetsRequirements) return 'no instance type met all requirements';
  if (!fits) return 'no instance type has enough resources';
  if (!isOffered) return 'no instance type has the required offering';
  return 'no instance type which met the scheduling requirements, had enough resources, and had a required offering was found';
}

/** '{"cpu":"1","memory":"512Mi","pods":"1"}' */
export function resourcesText({ cpu, memory, ephemeralStorage, scalars }: Readonly<Amounts>): string {
  const texts: Record<string, string> = {};
  if (cpu > 0) texts.cpu = cpu % 1000 === 0 ? String(cpu / 1000) : `${cpu}m`;
  if (ephemeralStorage > 0) texts['ephemeral-storage'] = bytesText(ephemeralStorage);
  if (memory > 0) texts.memory = bytesText(memory);
  for (const [name, amount] of scalars ?? []) texts[name] = String(amount);
  return JSON.stringify(texts);
}

export const bytesText = (bytes: number): string => formatQuantity(quantityOf(bytes, 'BinarySI'));

/** One text for all NodePools. */
export const allPoolsText = (refusals: readonly { readonly pool: string; readonly message: string }[]): string =>
  refusals.length === 0 ? 'no nodepools found' : refusals.map(({ pool, message }) => `incompatible with nodepool "${pool}", ${message}`).join('; ');
