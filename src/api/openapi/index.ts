/**
 * OpenAPI documents of the served kinds, from the schema: `openApiV3` of one group and version, `openApiV2` of all.
 * They are large and seldom requested: the caller makes them on demand and keeps them.
 */
import type { Kind } from '../kind.ts';
import { typeNameOf } from '../schema/type-schema.ts';
import { customDefinitions, describeCustomOperations } from './custom.ts';
import { type Dialect, definitionName, definitionsOf, openApi3, type Schema, swagger2 } from './definitions.ts';
import { idPrefix, type Operation, operationsOf, tagOf } from './operations.ts';
import { pathParameters, queryParameters, type TypeOfParameter } from './parameters.ts';
import { apiVersionOf, rootOf, type ServedVersion } from './served.ts';

export type { ServedResource, ServedVersion } from './served.ts';

/** `version`: that of the server, 'v1.36.4'. */
const infoOf = (version: string): Schema => ({ title: 'Kubernetes', version });
const mediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const streamTypes = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
const patchTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json', 'application/apply-patch+yaml'];

/** OpenAPI 3 of one version of one group. `custom`: its custom resources. */
export function openApiV3(served: ServedVersion, version: string, custom: readonly Kind[] = []): object {
  const operations = operationsOf(served);
  const paths = pathsOf(operations, { tag: tagOf(served), write: writeOperation3, typeOf: typeOf3, bodyParameters: () => [] });
  describeCustomOperations(paths, custom, openApi3);
  const types = [...typesIn(operations), ...(custom.length === 0 ? [] : ['ObjectMeta', 'ListMeta'])];
  return {
    openapi: '3.0.0',
    info: infoOf(version),
    paths: { ...discoveryPath(served, writeOperation3), ...paths },
    components: { schemas: { ...withEveryGroup(definitionsOf(types, openApi3), [served]), ...customDefinitions(custom, openApi3) } },
  };
}

/** Swagger 2 of everything. */
export function openApiV2(served: readonly ServedVersion[], version: string, custom: readonly Kind[] = []): object {
  const operations = served.flatMap((each) => operationsOf(each));
  const paths = served.map((each) => ({
    ...discoveryPath(each, writeOperation2),
    ...pathsOf(operationsOf(each), { tag: tagOf(each), write: writeOperation2, typeOf: (type) => ({ type }), bodyParameters: bodyParameters2 }),
  }));
  const all = Object.assign({}, ...paths) as Record<string, Schema>;
  describeCustomOperations(all, custom, swagger2);
  return {
    swagger: '2.0',
    info: infoOf(version),
    paths: all,
    definitions: { ...withEveryGroup(definitionsOf(typesIn(operations), swagger2), served), ...customDefinitions(custom, swagger2) },
  };
}

/** The request and response types of operations. */
function typesIn(operations: readonly Operation[]): Set<string> {
  const types = new Set(['Status', 'DeleteOptions', 'APIResourceList', 'WatchEvent']);
  for (const operation of operations) for (const type of [bodyType(operation), answerType(operation)]) if (type !== undefined) types.add(type);
  return types;
}

/** DeleteOptions and WatchEvent list all groups in x-kubernetes-group-version-kind. */
function withEveryGroup(definitions: Record<string, Schema>, served: readonly ServedVersion[]): Record<string, Schema> {
  for (const type of ['DeleteOptions', 'WatchEvent']) {
    const name = definitionName(type);
    const kinds = served.map(({ group, version }) => ({ group, kind: type, version }));
    definitions[name] = { ...definitions[name], 'x-kubernetes-group-version-kind': kinds };
  }
  return definitions;
}

function answerType(operation: Operation): string | undefined {
  const own = typeNameOf(apiVersionOf(operation), operation.kind);
  switch (operation.action) {
    case 'list':
      return typeNameOf(apiVersionOf(operation), `${operation.kind}List`);
    case 'delete':
    case 'deletecollection':
      return 'Status';
    default:
      return own;
  }
}

function bodyType(operation: Operation): string | undefined {
  switch (operation.action) {
    case 'post':
    case 'put':
      return typeNameOf(apiVersionOf(operation), operation.kind);
    case 'delete':
    case 'deletecollection':
      return 'DeleteOptions';
    default:
      return undefined;
  }
}

type WriteOperation = (
  operation: Pick<Operation, 'action' | 'id'>,
  types: { readonly body: string | undefined; readonly answer: string | undefined },
) => Schema;

interface Writing {
  readonly tag: string;
  readonly write: WriteOperation;
  readonly typeOf: TypeOfParameter;
  /** In Swagger 2 the body is a parameter. */
  readonly bodyParameters: (operation: Operation) => Schema[];
}

function pathsOf(operations: readonly Operation[], { tag, write, typeOf, bodyParameters }: Writing): Record<string, Schema> {
  const paths: Record<string, Schema> = {};
  for (const operation of operations) {
    const { path, method, id, action, group, kind, version } = operation;
    const entry = (paths[path] ??= { parameters: pathParameters(path, typeOf) });
    entry[method] = {
      operationId: id,
      tags: [tag],
      ...write(operation, { body: bodyType(operation), answer: answerType(operation) }),
      parameters: [...bodyParameters(operation), ...queryParameters(action, typeOf)],
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': { group, kind, version },
    };
  }
  return paths;
}

function discoveryPath(served: ServedVersion, write: WriteOperation): Record<string, Schema> {
  const id = `get${idPrefix(served)}APIResources`;
  return {
    [`${rootOf(served)}/`]: {
      get: { operationId: id, tags: [tagOf(served)], ...write({ action: 'get', id }, { body: undefined, answer: 'APIResourceList' }) },
    },
  };
}

const typeOf3: TypeOfParameter = (type) => ({ schema: { type, uniqueItems: true } });

const codesOf = ({ action }: Pick<Operation, 'action'>): readonly (readonly [code: string, description: string])[] => {
  if (action === 'post')
    return [
      ['200', 'OK'],
      ['201', 'Created'],
      ['202', 'Accepted'],
    ];
  if (action === 'put' || action === 'patch')
    return [
      ['200', 'OK'],
      ['201', 'Created'],
    ];
  return action === 'delete'
    ? [
        ['200', 'OK'],
        ['202', 'Accepted'],
      ]
    : [['200', 'OK']];
};

const refTo = (type: string, { prefix }: Dialect): Schema => ({ $ref: prefix + definitionName(type) });

const writeOperation3: WriteOperation = (operation, { body, answer }) => {
  const content = (schema: Schema | undefined, types: readonly string[]): Schema =>
    Object.fromEntries(types.map((type) => [type, schema === undefined ? {} : { schema }]));
  const answerSchema = answer === undefined ? undefined : refTo(answer, openApi3);
  const produced = operation.action === 'list' ? [...mediaTypes, ...streamTypes] : mediaTypes;
  const responses = codesOf(operation).map(([code, description]) => [code, { description, content: content(answerSchema, produced) }]);
  const patch = operation.action === 'patch' ? { requestBody: { content: content({ type: 'object' }, patchTypes), required: true } } : {};
  return {
    ...(body === undefined
      ? patch
      : { requestBody: { content: content(refTo(body, openApi3), mediaTypes), ...(operation.action === 'delete' ? {} : { required: true }) } }),
    responses: { ...(Object.fromEntries(responses) as Schema), '401': { description: 'Unauthorized' } },
  };
};

function bodyParameters2(operation: Operation): Schema[] {
  const type = bodyType(operation);
  if (type === undefined && operation.action !== 'patch') return [];
  const isOptional = operation.action === 'delete' || operation.action === 'deletecollection';
  return [{ in: 'body', name: 'body', ...(isOptional ? {} : { required: true }), schema: type === undefined ? { type: 'object' } : refTo(type, swagger2) }];
}

const writeOperation2: WriteOperation = (operation, { answer }) => {
  const schema = answer === undefined ? {} : { schema: refTo(answer, swagger2) };
  const responses = codesOf(operation).map(([code, description]) => [code, { description, ...schema }]);
  return {
    consumes: operation.action === 'patch' ? patchTypes : mediaTypes,
    produces: operation.action === 'list' ? [...mediaTypes, ...streamTypes] : mediaTypes,
    schemes: ['https'],
    responses: { ...(Object.fromEntries(responses) as Schema), '401': { description: 'Unauthorized' } },
  };
};
