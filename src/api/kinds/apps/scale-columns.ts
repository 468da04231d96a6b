import type { Scale } from '../../generated/types.ts';
import type { Column } from '../../kind.ts';
import type { KubeObject } from '../../object.ts';
import { ageColumn, integerColumn, textColumn } from '../../printer-columns.ts';

const scaleOf = (object: KubeObject): Pick<Scale, 'spec' | 'status'> => object as KubeObject & Scale;

/** What `kubectl get --subresource=scale` prints. */
export const scaleColumns: readonly Column[] = [
  textColumn('Name', ({ metadata }) => metadata.name ?? ''),
  integerColumn('Desired', (scale) => scaleOf(scale).spec.replicas ?? 0),
  integerColumn('Available', (scale) => scaleOf(scale).status.replicas),
  ageColumn,
];
