import { duplicate, type FieldError, forbidden, invalid, notOneOf, notSupported, required } from '../../field-error.ts';
import type {
  Affinity,
  LabelSelector,
  NodeAffinity,
  PodAffinity,
  PodAffinityTerm,
  PodSchedulingGate,
  Toleration,
  TopologySpreadConstraint,
} from '../../generated/types.ts';
import { validateLabelName, validateLabelSelector } from '../../validation/labels.ts';
import { labelValueProblems, nameIsDnsLabel } from '../../validation/names.ts';
import { validateNodeSelector, validatePreferredSchedulingTerms } from '../../validation/node-selector.ts';
import { invalidEach, qualifiedName } from '../../validation/field-rules.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export const validateAffinity = ({ nodeAffinity, podAffinity, podAntiAffinity }: Affinity, field: string): FieldError[] => [
  ...(nodeAffinity ? validateNodeAffinity(nodeAffinity, `${field}.nodeAffinity`) : []),
  ...(podAffinity ? validatePodAffinity(podAffinity, `${field}.podAffinity`) : []),
  ...(podAntiAffinity ? validatePodAffinity(podAntiAffinity, `${field}.podAntiAffinity`) : []),
];

const validateNodeAffinity = (affinity: NodeAffinity, field: string): FieldError[] => [
  ...(affinity[REQUIRED] ? validateNodeSelector(affinity[REQUIRED], `${field}.${REQUIRED}`) : []),
  ...validatePreferredSchedulingTerms(affinity[PREFERRED] ?? [], `${field}.${PREFERRED}`),
];

/** Affinity and anti-affinity to other pods look the same. */
const validatePodAffinity = (affinity: PodAffinity, field: string): FieldError[] => [
  ...(affinity[REQUIRED] ?? []).flatMap((term, i) => validateAffinityTerm(term, `${field}.${REQUIRED}[${i}]`)),
  ...(affinity[PREFERRED] ?? []).flatMap(({ weight, podAffinityTerm }, i) => [
    ...(weight <= 0 || weight > 100 ? [invalid(`${field}.${PREFERRED}[${i}].weight`, weight, 'must be in the range 1-100')] : []),
    ...validateAffinityTerm(podAffinityTerm, `${field}.${PREFERRED}[${i}].podAffinityTerm`),
  ]),
];

function validateAffinityTerm(term: PodAffinityTerm, field: string): FieldError[] {
  return [
    ...validateLabelSelector(term.labelSelector, `${field}.labelSelector`),
    ...validateLabelSelector(term.namespaceSelector, `${field}.namespaceSelector`),
    ...(term.namespaces ?? []).flatMap((name) => invalidEach(`${field}.namespace`, name, nameIsDnsLabel(name, false))),
    ...validateLabelKeys(term, field),
    ...(term.topologyKey === '' ? [required(`${field}.topologyKey`, 'can not be empty')] : []),
    ...validateLabelName(term.topologyKey, `${field}.topologyKey`),
  ];
}

interface LabelKeys {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

/** Labels of the pod itself by which others are told apart. They were added to the selector before this is checked. */
function validateLabelKeys({ labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: LabelKeys, field: string): FieldError[] {
  const mismatched = new Set(mismatchLabelKeys);
  return [
    ...validateKeyNames(matchLabelKeys, labelSelector, `${field}.matchLabelKeys`),
    ...validateKeyNames(mismatchLabelKeys, labelSelector, `${field}.mismatchLabelKeys`),
    ...selectedTwice(matchLabelKeys, labelSelector, field),
    ...matchLabelKeys.flatMap((key, i) =>
      mismatched.has(key) ? [invalid(`${field}.matchLabelKeys[${i}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys')] : [],
    ),
  ];
}

function validateKeyNames(keys: readonly string[], selector: LabelSelector | undefined, field: string): FieldError[] {
  if (keys.length === 0) return [];
  if (selector === undefined) return [forbidden(field, 'must not be specified when labelSelector is not set')];
  return keys.flatMap((key, i) => validateLabelName(key, `${field}[${i}]`));
}

/** A key that is in the selector once more than it was added: the client selects by it as well. */
function selectedTwice(matchLabelKeys: readonly string[], selector: LabelSelector | undefined, field: string): FieldError[] {
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}));
  const positions = new Map(matchLabelKeys.map((key, i) => [key, i]));
  return (selector?.matchExpressions ?? []).flatMap(({ key }) => {
    const position = positions.get(key);
    const errors = position !== undefined && seen.has(key) ? [invalid(`${field}[${position}]`, key, 'exists in both matchLabelKeys and labelSelector')] : [];
    seen.add(key);
    return errors;
  });
}

export function validateSchedulingGates(gates: readonly PodSchedulingGate[], field: string): FieldError[] {
  const seen = new Set<string>();
  return gates.flatMap(({ name }, i) => {
    const errors = qualifiedName(name, `${field}[${i}]`);
    if (seen.has(name)) errors.push(duplicate(`${field}[${i}]`, name));
    seen.add(name);
    return errors;
  });
}

export const validateTolerations = (tolerations: readonly Toleration[], field: string): FieldError[] =>
  tolerations.flatMap((toleration, i) => validateToleration(toleration, `${field}[${i}]`));

function validateToleration(toleration: Toleration, field: string): FieldError[] {
  const { key = '', operator = '', effect = '', tolerationSeconds } = toleration;
  const errors = key === '' ? [] : validateLabelName(key, `${field}.key`);
  if (key === '' && operator !== 'Exists') {
    errors.push(invalid(`${field}.operator`, operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"'));
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    errors.push(invalid(`${field}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  return [...errors, ...validateTolerationValue(toleration, `${field}.operator`), ...(effect === '' ? [] : validateTaintEffect(effect, `${field}.effect`))];
}

function validateTolerationValue({ operator = '', value = '' }: Toleration, field: string): FieldError[] {
  switch (operator) {
    case '':
    case 'Equal': {
      const problems = labelValueProblems(value);
      return problems.length === 0 ? [] : [invalid(field, value, problems.join(';'))];
    }
    case 'Exists':
      return value === '' ? [] : [invalid(field, value, "value must be empty when `operator` is 'Exists'")];
    // Comparing numbers is known, but not switched on.
    case 'Lt':
    case 'Gt':
      return [notOneOf(field, operator, ['Equal', 'Exists', 'Lt', 'Gt'])];
    default:
      return [notOneOf(field, operator, ['Equal', 'Exists'])];
  }
}

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const validateTaintEffect = (effect: string, field: string): FieldError[] => (taintEffects.includes(effect) ? [] : [notOneOf(field, effect, taintEffects)]);

const whenUnsatisfiableActions = ['DoNotSchedule', 'ScheduleAnyway'];

export function validateSpreadConstraints(constraints: readonly TopologySpreadConstraint[], field: string): FieldError[] {
  const show = ({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string => `{${topologyKey}, ${whenUnsatisfiable}}`;
  const lastOf = new Map(constraints.map((constraint, i) => [show(constraint), i]));
  return constraints.flatMap((constraint, i) => {
    const at = `${field}[${i}]`;
    const { topologyKey, whenUnsatisfiable } = constraint;
    const errors = positive(constraint.maxSkew, `${at}.maxSkew`);
    if (topologyKey === '') errors.push(required(`${at}.topologyKey`, 'can not be empty'));
    if (!whenUnsatisfiableActions.includes(whenUnsatisfiable)) {
      errors.push(notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable, whenUnsatisfiableActions));
    }
    if (lastOf.get(show(constraint)) !== i) errors.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, show(constraint)));
    return [
      ...errors,
      ...validateMinDomains(constraint, `${at}.minDomains`),
      ...validateInclusionPolicy(constraint.nodeAffinityPolicy, `${at}.nodeAffinityPolicy`),
      ...validateInclusionPolicy(constraint.nodeTaintsPolicy, `${at}.nodeTaintsPolicy`),
      ...validateLabelKeys(constraint, at),
      ...validateLabelSelector(constraint.labelSelector, `${at}.labelSelector`),
    ];
  });
}

const positive = (value: number, field: string): FieldError[] => (value > 0 ? [] : [invalid(field, value, 'must be greater than zero')]);

function validateMinDomains({ minDomains, whenUnsatisfiable }: TopologySpreadConstraint, field: string): FieldError[] {
  if (minDomains === undefined) return [];
  const errors = positive(minDomains, field);
  if (whenUnsatisfiable === 'DoNotSchedule') return errors;
  return [...errors, invalid(field, minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`)];
}

const inclusionPolicies = ['Honor', 'Ignore'];

const validateInclusionPolicy = (policy: string | undefined, field: string): FieldError[] =>
  policy === undefined || inclusionPolicies.includes(policy) ? [] : [notSupported(field, policy, inclusionPolicies)];
