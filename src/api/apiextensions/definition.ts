import type { ObjectMeta } from '../generated/types.ts';
import type { JsonSchema } from '../json-schema.ts';

/** A decoded CustomResourceDefinition; `schema/definition-types.ts` has its schema. */
export interface CustomResourceDefinition {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: DefinitionSpec;
  status: DefinitionStatus;
}

export interface DefinitionSpec {
  group: string;
  names: DefinitionNames;
  scope: string;
  versions: DefinitionVersion[] | null;
  conversion?: { strategy: string; webhook?: { clientConfig?: ConversionClient; conversionReviewVersions: string[] | null } };
  preserveUnknownFields?: boolean;
}

export interface ConversionClient {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  caBundle?: string;
}

export interface DefinitionNames {
  plural: string;
  singular?: string;
  shortNames?: string[];
  kind: string;
  listKind?: string;
  categories?: string[];
}

export interface DefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: JsonSchema };
  subresources?: { status?: object; scale?: ScaleSubresource };
  additionalPrinterColumns?: PrinterColumn[];
  selectableFields?: { jsonPath: string }[];
}

export interface ScaleSubresource {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

export interface PrinterColumn {
  name: string;
  type: string;
  format?: string;
  description?: string;
  priority?: number;
  jsonPath: string;
}

export interface DefinitionStatus {
  conditions: DefinitionCondition[] | null;
  acceptedNames: DefinitionNames;
  storedVersions: string[] | null;
  observedGeneration?: number;
}

export interface DefinitionCondition {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
}

export const conditionOf = (definition: Pick<CustomResourceDefinition, 'status'>, type: string): DefinitionCondition | undefined =>
  (definition.status.conditions ?? []).find((condition) => condition.type === type);

export const isTrue = (definition: Pick<CustomResourceDefinition, 'status'>, type: string): boolean => conditionOf(definition, type)?.status === 'True';

/** lastTransitionTime changes only with the status. */
export function withCondition(status: DefinitionStatus, condition: DefinitionCondition, now: string): DefinitionStatus {
  const conditions = status.conditions ?? [];
  const old = conditionOf({ status }, condition.type);
  const { type, status: value, reason, message } = condition;
  const since = old?.status === value ? (old.lastTransitionTime ?? now) : now;
  const made: DefinitionCondition = {
    type,
    status: value,
    lastTransitionTime: since,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
  return { ...status, conditions: old === undefined ? [...conditions, made] : conditions.map((one) => (one === old ? made : one)) };
}
