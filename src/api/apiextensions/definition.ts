import type { ObjectMeta } from '../generated/types.ts';

/** A CustomResourceDefinition, as decoded: the TypeScript twin of `schema/definition-types.ts`. */
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

/** A schema of OpenAPI v3, as far as Kubernetes knows it. */
export interface JsonSchema {
  id?: string;
  $schema?: string;
  $ref?: string;
  description?: string;
  type?: string;
  format?: string;
  title?: string;
  default?: unknown;
  maximum?: number;
  exclusiveMaximum?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  maxLength?: number;
  minLength?: number;
  pattern?: string;
  maxItems?: number;
  minItems?: number;
  uniqueItems?: boolean;
  multipleOf?: number;
  enum?: unknown[];
  maxProperties?: number;
  minProperties?: number;
  required?: string[];
  items?: JsonSchema;
  allOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  not?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  patternProperties?: Record<string, JsonSchema>;
  dependencies?: unknown;
  additionalItems?: unknown;
  definitions?: unknown;
  nullable?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-validations'?: ValidationRule[];
}

export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/** The schema of properties that have none of their own. True allows any. */
export const additionalOf = ({ additionalProperties }: JsonSchema): JsonSchema | undefined =>
  typeof additionalProperties === 'object' ? additionalProperties : undefined;

export const propertyOf = (schema: JsonSchema, name: string): JsonSchema | undefined =>
  schema.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;

export const conditionOf = (definition: Pick<CustomResourceDefinition, 'status'>, type: string): DefinitionCondition | undefined =>
  (definition.status.conditions ?? []).find((condition) => condition.type === type);

export const isTrue = (definition: Pick<CustomResourceDefinition, 'status'>, type: string): boolean => conditionOf(definition, type)?.status === 'True';

/** The time of a condition is when its status last changed. */
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
