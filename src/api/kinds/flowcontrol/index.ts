import { untypedKind, type Kind } from '../../kind.ts';
import { flowSchemaKind } from './flow-schema.ts';
import { priorityLevelConfigurationKind } from './priority-level-configuration.ts';

export const flowcontrolKinds: readonly Kind[] = [untypedKind(flowSchemaKind), untypedKind(priorityLevelConfigurationKind)];
