/**
 * The schema at work: from what a client sent to the form in which Kubernetes would print it.
 *
 *     decodeRequest({ expected, defaultType, body, fieldValidation })  bytes → object + warnings, or a 400 in Kubernetes' words
 *     decode('PersistentVolumeClaim', value)              parsed JSON → object + unknown fields
 *     typeSchema('PodSpec')                               fields, merge keys, list types, protobuf numbers
 *     deepFreeze · deepEqual · cloneObject                 on decoded objects
 */
export { type Decoded, DecodeError, decode } from './decode.ts';
export { type DecodeRequest, type DecodedRequest, decodeRequest, type FieldValidation } from './request.ts';
export { cloneObject, deepEqual, deepFreeze } from './plain-object.ts';
export { type FieldSchema, hasType, type TypeExpression, type TypeSchema, typeNameOf, typeSchema } from './type-schema.ts';
