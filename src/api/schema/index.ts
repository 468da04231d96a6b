/**
 * The schema at work: from what a client sent to the form in which Kubernetes would print it.
 *
 *     decode('PersistentVolumeClaim', value)               parsed JSON → object + unknown fields
 *     deepFreeze · deepEqual · cloneObject                 on decoded objects
 *
 * What a type looks like (fields, merge keys, list types, protobuf numbers) is in type-schema.ts.
 */
export { decode } from './decode.ts';
export { cloneObject, deepEqual, deepFreeze } from './plain-object.ts';
