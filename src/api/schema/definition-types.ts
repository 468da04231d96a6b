/**
 * The types of group apiextensions.k8s.io, in the notation of `generated/schema.ts`. By hand, since a value of a JSON schema has two forms in places
 * (a schema or a boolean): these are `any` in JSON, read by `apiextensions/`, and a message with a field for each form in protobuf, which `wire` names.
 * Their TypeScript twins are in `apiextensions/definition.ts`.
 */
const apiextensions = 'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1';

export const definitionTypeLines: Readonly<Record<string, string>> = {
  CustomResourceDefinition: `${apiextensions} CustomResourceDefinition
- TypeMeta 0 inline
metadata ObjectMeta 1 omitempty optional
spec CustomResourceDefinitionSpec 2
status CustomResourceDefinitionStatus 3 omitempty optional`,
  CustomResourceDefinitionList: `${apiextensions} CustomResourceDefinitionList
- TypeMeta 0 inline
metadata ListMeta 1 omitempty optional
items []CustomResourceDefinition 2`,
  CustomResourceDefinitionSpec: `${apiextensions} CustomResourceDefinitionSpec
group string 1
names CustomResourceDefinitionNames 3
scope string 4
versions []CustomResourceDefinitionVersion 7 list=atomic
conversion *CustomResourceConversion 9 omitempty optional
preserveUnknownFields bool 10 omitempty optional`,
  CustomResourceConversion: `${apiextensions} CustomResourceConversion
strategy string 1
webhook *WebhookConversion 2 omitempty optional`,
  WebhookConversion: `${apiextensions} WebhookConversion
clientConfig *ConversionClientConfig 2 omitempty optional
conversionReviewVersions []string 3 list=atomic`,
  ConversionClientConfig: `${apiextensions} WebhookClientConfig
url *string 3 omitempty optional
service *ConversionServiceReference 1 omitempty optional
caBundle []byte 2 omitempty optional`,
  ConversionServiceReference: `${apiextensions} ServiceReference
namespace string 1
name string 2
path *string 3 omitempty optional
port *int32 4 omitempty optional`,
  CustomResourceDefinitionVersion: `${apiextensions} CustomResourceDefinitionVersion
name string 1
served bool 2
storage bool 3
deprecated bool 7 omitempty optional
deprecationWarning *string 8 omitempty optional
schema *CustomResourceValidation 4 omitempty optional
subresources *CustomResourceSubresources 5 omitempty optional
additionalPrinterColumns []CustomResourceColumnDefinition 6 omitempty optional list=atomic
selectableFields []SelectableField 9 omitempty optional list=atomic`,
  SelectableField: `${apiextensions} SelectableField
jsonPath string 1`,
  CustomResourceColumnDefinition: `${apiextensions} CustomResourceColumnDefinition
name string 1
type string 2
format string 3 omitempty optional
description string 4 omitempty optional
priority int32 5 omitempty optional
jsonPath string 6`,
  CustomResourceDefinitionNames: `${apiextensions} CustomResourceDefinitionNames
plural string 1
singular string 2 omitempty optional
shortNames []string 3 omitempty optional list=atomic
kind string 4
listKind string 5 omitempty optional
categories []string 6 omitempty optional list=atomic`,
  CustomResourceDefinitionCondition: `${apiextensions} CustomResourceDefinitionCondition
type string 1
status string 2
lastTransitionTime *Time 3 omitempty optional
reason string 4 omitempty optional
message string 5 omitempty optional
observedGeneration int64 6 omitempty optional`,
  CustomResourceDefinitionStatus: `${apiextensions} CustomResourceDefinitionStatus
conditions []CustomResourceDefinitionCondition 1 optional list=map keys=type
acceptedNames CustomResourceDefinitionNames 2 optional
storedVersions []string 3 optional list=atomic
observedGeneration int64 4 omitempty optional`,
  CustomResourceValidation: `${apiextensions} CustomResourceValidation
openAPIV3Schema *JSONSchemaProps 1 omitempty optional`,
  CustomResourceSubresources: `${apiextensions} CustomResourceSubresources
status *CustomResourceSubresourceStatus 1 omitempty optional
scale *CustomResourceSubresourceScale 2 omitempty optional`,
  CustomResourceSubresourceStatus: `${apiextensions} CustomResourceSubresourceStatus`,
  CustomResourceSubresourceScale: `${apiextensions} CustomResourceSubresourceScale
specReplicasPath string 1
statusReplicasPath string 2
labelSelectorPath *string 3 omitempty optional`,
  ExternalDocumentation: `${apiextensions} ExternalDocumentation
description string 1 omitempty optional
url string 2 omitempty optional`,
  ValidationRule: `${apiextensions} ValidationRule
rule string 1
message string 2 omitempty optional
messageExpression string 3 omitempty optional
reason *string 4 omitempty optional
fieldPath string 5 omitempty optional
optionalOldSelf *bool 6 omitempty optional`,
  JSONSchemaProps: `${apiextensions} JSONSchemaProps
id string 1 omitempty optional
$schema string 2 omitempty optional
$ref *string 3 omitempty optional
description string 4 omitempty optional
type string 5 omitempty optional
format string 6 omitempty optional
title string 7 omitempty optional
default *any 8 omitempty optional
maximum *any 9 omitempty optional wire=double
exclusiveMaximum bool 10 omitempty optional
minimum *any 11 omitempty optional wire=double
exclusiveMinimum bool 12 omitempty optional
maxLength *int64 13 omitempty optional
minLength *int64 14 omitempty optional
pattern string 15 omitempty optional
maxItems *int64 16 omitempty optional
minItems *int64 17 omitempty optional
uniqueItems bool 18 omitempty optional
multipleOf *any 19 omitempty optional wire=double
enum []any 20 omitempty optional list=atomic
maxProperties *int64 21 omitempty optional
minProperties *int64 22 omitempty optional
required []string 23 omitempty optional list=atomic
items *JSONSchemaProps 24 omitempty optional wire=JSONSchemaPropsOrArray
allOf []JSONSchemaProps 25 omitempty optional list=atomic
oneOf []JSONSchemaProps 26 omitempty optional list=atomic
anyOf []JSONSchemaProps 27 omitempty optional list=atomic
not *JSONSchemaProps 28 omitempty optional
properties map[string]JSONSchemaProps 29 omitempty optional
additionalProperties *any 30 omitempty optional wire=JSONSchemaPropsOrBool
patternProperties map[string]JSONSchemaProps 31 omitempty optional
dependencies map[string]any 32 omitempty optional wire=JSONSchemaPropsOrStringArray
additionalItems *any 33 omitempty optional wire=JSONSchemaPropsOrBool
definitions map[string]JSONSchemaProps 34 omitempty optional
externalDocs *ExternalDocumentation 35 omitempty optional
example *any 36 omitempty optional
nullable bool 37 omitempty optional
x-kubernetes-preserve-unknown-fields *bool 38 omitempty optional
x-kubernetes-embedded-resource bool 39 omitempty optional
x-kubernetes-int-or-string bool 40 omitempty optional
x-kubernetes-list-map-keys []string 41 omitempty optional list=atomic
x-kubernetes-list-type *string 42 omitempty optional
x-kubernetes-map-type *string 43 omitempty optional
x-kubernetes-validations []ValidationRule 44 omitempty optional list=map keys=rule`,
};
