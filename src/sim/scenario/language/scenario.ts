import type { KubeObject } from '../../../api/object.ts';
import type { Taint } from '../../../api/generated/types.ts';
import type { BackendCall, ScriptStep } from './script-step.ts';
import type { Expectation } from './expectation.ts';
import type { LocatedYaml } from './located-yaml.ts';

/** The content of a file for `moor simulate`. */
export interface Scenario {
  readonly cluster: ClusterPlan;
  readonly objects: readonly Manifest[];
  /** In order of time. */
  readonly script: readonly ScriptEntry[];
  readonly expectations: readonly Expectation[];
  readonly lastsMs: number;
  readonly seed: number;
}

/** An object to create, and its position in the file. */
export interface Manifest {
  readonly object: KubeObject;
  readonly written: LocatedYaml;
}

export interface ScriptEntry {
  readonly atMs: number;
  readonly step: ScriptStep;
  readonly text: string;
  readonly written: LocatedYaml;
}

export interface ClusterPlan {
  readonly region: string;
  readonly nodes: readonly NodePlan[];
  readonly drivers: readonly DriverPlan[];
  /** Absent: the cluster is in no cloud, and has no autoscaler. */
  readonly cloud?: CloudPlan | undefined;
}

export interface CloudPlan {
  /** 'eu-west-2' */
  readonly region: string;
  /** Instances that run from the beginning, for the cluster's own pods: workloads do not tolerate their taint. Default: none. */
  readonly systemNodes?: number | undefined;
}

export interface NodePlan {
  readonly name: string;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Volumes of each driver; undefined: no limit. */
  readonly attachLimit: number | undefined;
}

export interface DriverPlan {
  readonly name: string;
  /** The duration of each call, in milliseconds. */
  readonly takes: Readonly<Record<Exclude<BackendCall, 'every'>, number>>;
  /** Each disk is in one zone, and can be attached only there. */
  readonly zonal: boolean;
  readonly attaches: boolean;
}
