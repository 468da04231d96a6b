import { type FieldError, forbidden, invalid, notSupported, required } from '../../field-error.ts';
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { entry } from '../../validation/field-rules.ts';
import { sameMeaning } from '../../validation/semantic-equality.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { validateStatus } from './conditions.ts';
import { mandatoryPriorityLevels } from './default-configuration.ts';

const DEFAULT_SHARES = 30;
const queuingDefaults = { handSize: 8, queues: 64, queueLengthLimit: 50 };
const MAX_QUEUES = 10_000_000;
/** Bits of the hash that a flow's queues are drawn with (upstream: shufflesharding.MaxHashBits). */
const MAX_HASH_BITS = 60;
const PRESERVE_ZERO_SHARES = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

function setDefaults({ spec: { limited, exempt } }: PriorityLevelConfiguration): void {
  if (exempt !== undefined) {
    exempt.nominalConcurrencyShares ??= 0;
    exempt.lendablePercent ??= 0;
  }
  if (limited === undefined) return;
  limited.nominalConcurrencyShares ??= DEFAULT_SHARES;
  limited.lendablePercent ??= 0;
  const { queuing } = limited.limitResponse;
  if (queuing === undefined) return;
  for (const [field, value] of Object.entries(queuingDefaults)) {
    const name = field as keyof typeof queuingDefaults;
    if (queuing[name] === 0) queuing[name] = value;
  }
}

function validate({ metadata, spec, status }: PriorityLevelConfiguration): FieldError[] {
  const { name = '', annotations = {} } = metadata;
  return [
    ...(PRESERVE_ZERO_SHARES in annotations ? [forbidden('metadata.annotations', `annotation '${PRESERVE_ZERO_SHARES}' is forbidden`)] : []),
    ...validateSpec(spec, name),
    ...validateMandatory(spec, name),
    ...validateStatus(status.conditions),
  ];
}

function validateMandatory(spec: PriorityLevelConfigurationSpec, name: string): FieldError[] {
  const fixed = entry(mandatoryPriorityLevels, name);
  if (fixed === undefined) return [];
  if (name !== 'exempt') return sameMeaning(spec, fixed) ? [] : [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)];
  const { exempt: _exempt, ...others } = spec;
  const { exempt: _fixedExempt, ...fixedOthers } = fixed;
  if (sameMeaning(others, fixedOthers)) return [];
  return [invalid('spec', spec, "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value")];
}

function validateSpec({ type, limited, exempt }: PriorityLevelConfigurationSpec, name: string): FieldError[] {
  const errors: FieldError[] = [];
  if ((name === 'exempt') !== (type === 'Exempt')) errors.push(invalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  switch (type) {
    case 'Exempt':
      if (limited !== undefined) errors.push(forbidden('spec.limited', 'must be nil if the type is not Limited'));
      return exempt === undefined ? errors : [...errors, ...validateShares(exempt, 'spec.exempt')];
    case 'Limited':
      if (exempt !== undefined) errors.push(forbidden('spec.exempt', 'must be nil if the type is Limited'));
      if (limited === undefined) return [...errors, required('spec.limited', 'must not be empty when type is Limited')];
      return [...errors, ...validateLimited(limited, 'spec.limited')];
    default:
      return [...errors, type === '' ? required('spec.type') : notSupported('spec.type', type, ['Exempt', 'Limited'])];
  }
}

function validateLimited(limited: LimitedPriorityLevelConfiguration, field: string): FieldError[] {
  const { nominalConcurrencyShares: shares, lendablePercent: lendable, borrowingLimitPercent: borrowing } = limited;
  return [
    ...validateNominalShares(shares ?? 0, field),
    ...validateLimitResponse(limited.limitResponse, `${field}.limitResponse`),
    ...validateLendable(lendable, field),
    ...(borrowing !== undefined && borrowing < 0 ? [invalid(`${field}.borrowingLimitPercent`, borrowing, 'if specified, must be a non-negative integer')] : []),
  ];
}

const validateShares = ({ nominalConcurrencyShares: shares = 0, lendablePercent }: ExemptPriorityLevelConfiguration, field: string): FieldError[] => [
  ...validateNominalShares(shares, field),
  ...validateLendable(lendablePercent, field),
];

const validateNominalShares = (shares: number, field: string): FieldError[] =>
  shares < 0 ? [invalid(`${field}.nominalConcurrencyShares`, shares, 'must be a non-negative integer')] : [];

const validateLendable = (percent: number | undefined, field: string): FieldError[] =>
  percent !== undefined && (percent < 0 || percent > 100) ? [invalid(`${field}.lendablePercent`, percent, 'must be between 0 and 100, inclusive')] : [];

function validateLimitResponse({ type, queuing }: LimitResponse, field: string): FieldError[] {
  switch (type) {
    case 'Reject':
      return queuing === undefined ? [] : [forbidden(`${field}.queuing`, 'must be nil if limited.limitResponse.type is not Limited')];
    case 'Queue':
      if (queuing === undefined) return [required(`${field}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')];
      return validateQueuing(queuing, `${field}.queuing`);
    default:
      return [type === '' ? required(`${field}.type`) : notSupported(`${field}.type`, type, ['Queue', 'Reject'])];
  }
}

function validateQueuing({ queues, handSize, queueLengthLimit }: QueuingConfiguration, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (queueLengthLimit <= 0) errors.push(invalid(`${field}.queueLengthLimit`, queueLengthLimit, 'must be positive'));
  if (queues <= 0) errors.push(invalid(`${field}.queues`, queues, 'must be positive'));
  else if (queues > MAX_QUEUES) errors.push(invalid(`${field}.queues`, queues, `must not be greater than ${MAX_QUEUES}`));
  const hand = (problem: string): FieldError => invalid(`${field}.handSize`, handSize, problem);
  if (handSize <= 0) return [...errors, hand('must be positive')];
  if (handSize > queues) return [...errors, hand(`should not be greater than queues (${queues})`)];
  if (entropyBits(queues, handSize) <= MAX_HASH_BITS) return errors;
  return [...errors, hand(`required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${MAX_HASH_BITS}`)];
}

/** How many bits it takes to draw a hand from a deck. Beyond the limit the exact number does not count, nor is it computed. */
function entropyBits(deck: number, hand: number): number {
  let bits = 0;
  for (let drawn = 0; drawn < hand && bits <= MAX_HASH_BITS; drawn++) bits += Math.log2(deck - drawn);
  return Math.ceil(bits);
}

const limitedCell =
  (read: (limited: LimitedPriorityLevelConfiguration) => number | null | undefined) =>
  ({ spec: { limited } }: PriorityLevelConfiguration): number | string =>
    (limited === undefined ? undefined : read(limited)) ?? '<none>';

/** How many requests of its flows are served at once, and what happens to the others. */
export const priorityLevelConfigurationKind: Kind<PriorityLevelConfiguration> = {
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
  singular: 'prioritylevelconfiguration',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'PriorityLevelConfiguration',
  storage: { resource: 'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults: setDefaults,
  prepareForCreate: (level) => {
    level.status = {};
  },
  validate,
  checks: { update: ['metadata', 'object'], status: ['change'] },
  status: { validateUpdate: ({ status }) => validateStatus(status.conditions) },
  hasGeneration: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('Type', ({ spec }) => spec.type),
    textColumn(
      'NominalConcurrencyShares',
      limitedCell(({ nominalConcurrencyShares }) => nominalConcurrencyShares),
    ),
    textColumn(
      'Queues',
      limitedCell(({ limitResponse }) => limitResponse.queuing?.queues),
    ),
    textColumn(
      'HandSize',
      limitedCell(({ limitResponse }) => limitResponse.queuing?.handSize),
    ),
    textColumn(
      'QueueLengthLimit',
      limitedCell(({ limitResponse }) => limitResponse.queuing?.queueLengthLimit),
    ),
    ageColumn,
  ],
};
