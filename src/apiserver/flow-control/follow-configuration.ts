import type { FlowSchema, PriorityLevelConfiguration } from '../../api/generated/types.ts';
import { apiVersionOf, type Kind } from '../../api/kind.ts';
import { flowSchemaKind } from '../../api/kinds/flowcontrol/flow-schema.ts';
import { priorityLevelConfigurationKind } from '../../api/kinds/flowcontrol/priority-level-configuration.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import type { Store } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';
import type { Resources } from '../objects/resources.ts';
import { StoreInformer } from '../objects/store-informer.ts';
import { FlowConfiguration } from './flow-configuration.ts';

export interface FollowedFlowConfiguration {
  /** The same object until something changes. */
  readonly current: FlowConfiguration;
  stop(): void;
}

/** Keeps the configuration of flow control as the store has it. Until it is read, it is that of every cluster. */
export function followFlowConfiguration({ store, world }: { readonly store: Store; readonly world: World }, resources: Resources): FollowedFlowConfiguration {
  let schemas: readonly FlowSchema[] = [];
  let levels: readonly PriorityLevelConfiguration[] = [];
  let current = new FlowConfiguration();
  const rebuild = (): void => {
    current = new FlowConfiguration(schemas, levels);
  };
  const follow = <T extends KubeObject>(kind: Kind<T>, changed: (objects: readonly Stored<T>[]) => void): StoreInformer<T>[] => {
    const resource = resources.find(apiVersionOf(kind), kind.plural);
    if (resource === undefined) return [];
    const informer = new StoreInformer<T>({ store, timers: world.timers }, resource, (objects) => {
      changed(objects);
      rebuild();
    });
    informer.startEventually();
    return [informer];
  };
  const followed = [
    ...follow(flowSchemaKind, (objects) => {
      schemas = objects;
    }),
    ...follow(priorityLevelConfigurationKind, (objects) => {
      levels = objects;
    }),
  ];
  return {
    get current() {
      return current;
    },
    stop: () => {
      for (const informer of followed) informer.stop();
    },
  };
}
