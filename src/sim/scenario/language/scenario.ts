import type { KubeObject } from '../../../api/object.ts';
import type { Taint } from '../../../api/generated/types.ts';
import type { BackendCall, ScriptStep } from './script-step.ts';
import type { Expectation } from './expectation.ts';
import type { LocatedYaml } from './located-yaml.ts';

/** What a file for `moor simulate` says. */
export interface Scenario {
  readonly cluster: ClusterPlan;
  readonly objects: readonly Manifest[];
  /** In the order in which they happen. */
  readonly script: readonly ScriptEntry[];
  readonly expectations: readonly Expectation[];
  /** How long it goes on. */
  readonly lastsMs: number;
  readonly seed: number;
}

/** An object to be made, and where it was written. */
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
}

export interface NodePlan {
  readonly name: string;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** How many volumes of each driver it can have; undefined: any number. */
  readonly attachLimit: number | undefined;
}

export interface DriverPlan {
  readonly name: string;
  /** Milliseconds, by call. */
  readonly takes: Readonly<Record<Exclude<BackendCall, 'every'>, number>>;
  /** Its disks are in one zone each, and cannot be attached elsewhere. */
  readonly zonal: boolean;
  readonly attaches: boolean;
}
