import type { LabelSelector, PodTemplateSpec } from '../../generated/types.ts';
import type { Column, ScalePaths } from '../../kind.ts';
import type { KubeObject } from '../../object.ts';
import { ageColumn, integerColumn, nameColumn, wideColumn } from '../../printer-columns.ts';
import { selectorCell, showSelector } from '../../validation/label-selector.ts';
import { containerColumns } from './workload-template.ts';

/** An object that stands for a number of pods. */
interface Replicated extends KubeObject {
  readonly spec: { replicas?: number };
  readonly status: { readonly replicas?: number; readonly readyReplicas?: number };
}

type SelectorOf<T> = (object: T) => LabelSelector | null | undefined;

export const replicaScale = <T extends Replicated>(selectorOf: SelectorOf<T>): ScalePaths<T> => ({
  replicas: ({ spec }) => spec.replicas ?? 0,
  setReplicas: ({ spec }, replicas) => {
    spec.replicas = replicas;
  },
  statusReplicas: ({ status }) => status.replicas ?? 0,
  selector: (object) => showSelector(selectorOf(object)) ?? '',
});

export const replicaColumns = <T extends Replicated>(templateOf: (object: T) => PodTemplateSpec, selectorOf: SelectorOf<T>): readonly Column<T>[] => [
  nameColumn,
  integerColumn('Desired', ({ spec }) => spec.replicas ?? 0),
  integerColumn('Current', ({ status }) => status.replicas ?? 0),
  integerColumn('Ready', ({ status }) => status.readyReplicas ?? 0),
  ageColumn,
  ...containerColumns<T>(templateOf),
  wideColumn('Selector', (object) => selectorCell(selectorOf(object))),
];
