import type { FlowSchema, PriorityLevelConfiguration } from '../../api/generated/types.ts';
import {
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from '../../api/kinds/flowcontrol/default-configuration.ts';
import type { Draft } from '../../client/client.ts';

/** The server's own objects are brought up to date by it, unless a user sets this to false. */
const annotations = { 'apf.kubernetes.io/autoupdate-spec': 'true' };

const named = <T>(specs: Readonly<Record<string, T>>) => Object.entries(specs).map(([name, spec]) => ({ metadata: { name, annotations }, spec }));

export const defaultPriorityLevels: readonly Draft<PriorityLevelConfiguration>[] = named({ ...mandatoryPriorityLevels, ...suggestedPriorityLevels });
export const defaultFlowSchemas: readonly Draft<FlowSchema>[] = named({ ...mandatoryFlowSchemas, ...suggestedFlowSchemas });
