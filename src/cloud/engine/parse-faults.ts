import type { Fault } from './faults.ts';

/** The text says which entry and which field. */
export class FaultsError extends Error {}

type Check = (value: unknown) => string | undefined;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const text: Check = (value) => (isText(value) ? undefined : 'must be a text');
const texts: Check = (value) => (Array.isArray(value) && value.length > 0 && value.every(isText) ? undefined : 'must be a list of texts');
const probability: Check = (value) => (typeof value === 'number' && value >= 0 && value <= 1 ? undefined : 'must be a number from 0 to 1');
const seconds: Check = (value) => (typeof value === 'number' && value >= 0 && value <= 120 ? undefined : 'must be a number of seconds from 0 to 120');
const capacityType: Check = (value) => (value === 'spot' || value === 'on-demand' ? undefined : 'must be spot or on-demand');

/** Fault → its fields. A field with '!' has to be there. */
const fields: Readonly<Record<Fault['fault'], Readonly<Record<string, Check>>>> = {
  throttling: { actions: texts, probability },
  'lost-answer': { actions: texts, probability },
  'stuck-attaching': { instances: texts, volumes: texts, probability },
  'describe-lag': { 'seconds!': seconds },
  'insufficient-capacity': { instanceTypes: texts, zones: texts, capacityType },
  'dark-zone': { 'zone!': text },
  'frozen-instance': { 'instance!': text },
  'lost-instance': { 'instance!': text },
};

/** The parsed content of a file of faults: a list. @throws FaultsError */
export function parseFaults(content: unknown): readonly Fault[] {
  if (content === null || content === undefined) return [];
  if (!Array.isArray(content)) throw new FaultsError('faults are a list: "- fault: throttling"');
  return content.map((entry: unknown, i) => {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) throw new FaultsError(`[${i}] must be an object with the field "fault"`);
    const { fault, ...rest } = entry as Record<string, unknown>;
    const known = typeof fault === 'string' && Object.hasOwn(fields, fault) ? fields[fault as Fault['fault']] : undefined;
    if (known === undefined) throw new FaultsError(`[${i}].fault must be one of ${Object.keys(fields).join(', ')}`);
    for (const [name, value] of Object.entries(rest)) {
      const check = known[name] ?? known[`${name}!`];
      if (check === undefined) throw new FaultsError(`[${i}].${name} is no field of ${String(fault)}`);
      const problem = check(value);
      if (problem !== undefined) throw new FaultsError(`[${i}].${name} ${problem}`);
    }
    const missing = Object.keys(known).find((name) => name.endsWith('!') && !Object.hasOwn(rest, name.slice(0, -1)));
    if (missing !== undefined) throw new FaultsError(`[${i}].${missing.slice(0, -1)} is missing`);
    return entry as Fault;
  });
}
