import type { Schema } from './definitions.ts';
import type { Action } from './operations.ts';

type ParameterType = 'string' | 'integer' | 'boolean';

const listing: Readonly<Record<string, ParameterType>> = {
  allowWatchBookmarks: 'boolean',
  continue: 'string',
  fieldSelector: 'string',
  labelSelector: 'string',
  limit: 'integer',
  resourceVersion: 'string',
  resourceVersionMatch: 'string',
  sendInitialEvents: 'boolean',
  timeoutSeconds: 'integer',
  watch: 'boolean',
};
const writing: Readonly<Record<string, ParameterType>> = { dryRun: 'string', fieldManager: 'string', fieldValidation: 'string' };
const deleting: Readonly<Record<string, ParameterType>> = {
  dryRun: 'string',
  gracePeriodSeconds: 'integer',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'boolean',
  orphanDependents: 'boolean',
  propagationPolicy: 'string',
};

/** The query parameters. kubectl looks for `fieldValidation` here before it uses it. */
const byAction: Readonly<Record<Action, Readonly<Record<string, ParameterType>>>> = {
  list: listing,
  get: {},
  post: writing,
  put: writing,
  patch: { ...writing, force: 'boolean' },
  delete: deleting,
  deletecollection: { ...listing, ...deleting },
};

/** The type of a parameter in a version of OpenAPI. */
export type TypeOfParameter = (type: ParameterType) => Schema;

export function queryParameters(action: Action, typeOf: TypeOfParameter): Schema[] {
  return Object.entries(byAction[action]).map(([name, type]) => ({ in: 'query', name, ...typeOf(type), uniqueItems: true }));
}

/** The parameters that every operation on a path has. */
export function pathParameters(path: string, typeOf: TypeOfParameter): Schema[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  return [
    ...names.map((name) => ({ in: 'path', name, required: true, ...typeOf('string'), uniqueItems: true })),
    { in: 'query', name: 'pretty', ...typeOf('string'), uniqueItems: true },
  ];
}
