import { duplicate, type FieldError, invalid, required } from '../../field-error.ts';
import type { CSINode, CSINodeDriver } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { goForm } from '../../validation/go-form.ts';
import { IMMUTABLE, nonNegative } from '../../validation/metadata.ts';
import { labelKeyProblems, nameIsDnsSubdomain } from '../../validation/names.ts';
import { byteLength } from '../../validation/text.ts';
import { validateCsiDriverName } from '../../validation/volume-sources.ts';
import { ageColumn, integerColumn, nameColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { repeats } from '../../validation/repeats.ts';

const NODE_ID_MAX_LENGTH = 256;

function validate(node: CSINode): FieldError[] {
  const seen = new Set<string>();
  return (node.spec.drivers ?? []).flatMap((driver, i) => {
    const errors = validateDriver(driver, `spec.drivers[${i}]`, seen.has(driver.name));
    seen.add(driver.name);
    return errors;
  });
}

function validateDriver(driver: CSINodeDriver, field: string, isRepeated: boolean): FieldError[] {
  const { name, nodeID } = driver;
  const errors = validateCsiDriverName(name, `${field}.name`);
  if (nodeID === '') errors.push(required(`${field}.nodeID`));
  if (byteLength(nodeID) > NODE_ID_MAX_LENGTH) errors.push(invalid(`${field}.nodeID`, nodeID, `must be ${NODE_ID_MAX_LENGTH} characters or less`));
  errors.push(...nonNegative(driver.allocatable?.count ?? 0, `${field}.allocatable.count`));
  if (isRepeated) errors.push(duplicate(`${field}.name`, name));
  return [...errors, ...validateTopologyKeys(driver.topologyKeys ?? [], field)];
}

/** What is wrong with a key is reported at the driver, not at the key. */
function validateTopologyKeys(keys: readonly string[], field: string): FieldError[] {
  const isRepeated = repeats(keys);
  return keys.flatMap((key, i) => [
    ...(key === '' ? [required(field)] : []),
    ...(isRepeated[i] ? [duplicate(field, key)] : []),
    ...labelKeyProblems(key).map((wrong) => invalid(field, key, wrong)),
  ]);
}

/** Drivers come and go. The entry of a driver is immutable, except for its allocatable count. */
function validateUpdate(node: CSINode, old: CSINode): FieldError[] {
  return (old.spec.drivers ?? []).flatMap((before) =>
    (node.spec.drivers ?? [])
      .filter((driver) => driver.name === before.name)
      .map(withoutAllocatable)
      .filter((driver) => !semanticallyEqual(driver, withoutAllocatable(before)))
      .map((driver) => invalid('spec.drivers', goForm('CSINodeDriver', driver), IMMUTABLE)),
  );
}

const withoutAllocatable = ({ name, nodeID, topologyKeys }: CSINodeDriver): CSINodeDriver => ({ name, nodeID, topologyKeys });

export const csiNodeKind: Kind<CSINode> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSINode',
  plural: 'csinodes',
  singular: 'csinode',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'CSINode',
  storage: { resource: 'storage.k8s.io/csinodes' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  validate,
  validateUpdate,
  checks: { update: ['metadata', 'object', 'change'] },
  hasGeneration: false,
  unconditionalUpdate: false,
  selectableFields: {},
  columns: [nameColumn, integerColumn('Drivers', (node) => node.spec.drivers?.length ?? 0), ageColumn],
};
