/**
 * FlowSchemas and PriorityLevelConfigurations: which priority level a request belongs to, and which flow. As long as they are those of every
 * cluster, the built-in levels (`priority-level.ts`) decide alone: they do what the default objects are for.
 */
import type {
  FlowcontrolSubject,
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  ResourcePolicyRule,
} from '../../api/generated/types.ts';
import {
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from '../../api/kinds/flowcontrol/default-configuration.ts';
import type { RequestInfo, ResourceRequestInfo } from '../../api/request-info.ts';
import { entry } from '../../api/validation/field-rules.ts';
import { sameMeaning } from '../../api/validation/semantic-equality.ts';
import type { User } from '../api.ts';
import type { PriorityLevelName } from './priority-level.ts';

const defaultSchemas = { ...mandatoryFlowSchemas, ...suggestedFlowSchemas };
const defaultLevels = { ...mandatoryPriorityLevels, ...suggestedPriorityLevels };

/** The built-in level that does what a default one is for. */
const builtInOf: Readonly<Record<string, PriorityLevelName>> = {
  exempt: 'vital',
  'leader-election': 'vital',
  'node-high': 'vital',
  system: 'system',
  'workload-high': 'system',
  'workload-low': 'bulk',
  'global-default': 'bulk',
  'catch-all': 'bulk',
};

/** A level with seats of its own. */
export interface ConfiguredLevel {
  readonly name: string;
  /** Its part of all seats, from 0 to 1; undefined: it is exempt from limits. */
  readonly share: number | undefined;
  /** How many requests wait for a seat; 0: none, further ones are refused. */
  readonly queueLength: number;
}

export type Classification =
  | { readonly type: 'built-in'; readonly level: PriorityLevelName | undefined }
  /** `flow`: requests of one flow wait for each other; flows take turns. */
  | { readonly type: 'configured'; readonly level: ConfiguredLevel; readonly flow: string };

const builtIn: Classification = { type: 'built-in', level: undefined };

export class FlowConfiguration {
  /** By precedence; undefined: all objects are those of every cluster. */
  readonly #schemas: readonly FlowSchema[] | undefined;
  readonly #levels = new Map<string, ConfiguredLevel>();

  constructor(schemas: readonly FlowSchema[] = [], levels: readonly PriorityLevelConfiguration[] = []) {
    const total = levels.reduce((sum, { spec }) => sum + sharesOf(spec), 0);
    for (const { metadata, spec } of levels) {
      const { name = '' } = metadata;
      if (!isDefault(defaultLevels, name, spec)) this.#levels.set(name, configured(name, spec, total));
    }
    const isPlain = this.#levels.size === 0 && schemas.every(({ metadata, spec }) => isDefault(defaultSchemas, metadata.name ?? '', spec));
    this.#schemas = isPlain ? undefined : [...schemas].sort(byPrecedence);
  }

  classify(user: User, info: RequestInfo): Classification {
    const schema = this.#schemas?.find(({ spec }) => (spec.rules ?? []).some((rule) => matches(rule, user, info)));
    if (schema === undefined) return builtIn;
    const { metadata, spec } = schema;
    const level = this.#levels.get(spec.priorityLevelConfiguration.name);
    if (level !== undefined) return { type: 'configured', level, flow: flowOf(schema, user, info) };
    if (isDefault(defaultSchemas, metadata.name ?? '', spec)) return builtIn;
    return { type: 'built-in', level: entry(builtInOf, spec.priorityLevelConfiguration.name) };
  }
}

const isDefault = (defaults: Readonly<Record<string, unknown>>, name: string, spec: unknown): boolean =>
  Object.hasOwn(defaults, name) && sameMeaning(defaults[name], spec);

/** Kubernetes' order: of two with the same precedence, the name decides. */
function byPrecedence(a: FlowSchema, b: FlowSchema): number {
  const [first = '', second = ''] = [a.metadata.name, b.metadata.name];
  return a.spec.matchingPrecedence - b.spec.matchingPrecedence || (first < second ? -1 : 1);
}

const sharesOf = ({ limited, exempt }: PriorityLevelConfigurationSpec): number => limited?.nominalConcurrencyShares ?? exempt?.nominalConcurrencyShares ?? 0;

function configured(name: string, spec: PriorityLevelConfigurationSpec, total: number): ConfiguredLevel {
  if (spec.type === 'Exempt') return { name, share: undefined, queueLength: 0 };
  const queuing = spec.limited?.limitResponse.queuing;
  return {
    name,
    share: total === 0 ? 0 : sharesOf(spec) / total,
    queueLength: queuing === undefined ? 0 : queuing.queues * queuing.queueLengthLimit,
  };
}

function flowOf({ metadata, spec }: FlowSchema, user: User, info: RequestInfo): string {
  const { name = '' } = metadata;
  switch (spec.distinguisherMethod?.type) {
    case 'ByUser':
      return `${name}/${user.name}`;
    case 'ByNamespace':
      return `${name}/${info.type === 'resource' ? info.namespace : ''}`;
    default:
      return name;
  }
}

function matches({ subjects, resourceRules = [], nonResourceRules = [] }: PolicyRulesWithSubjects, user: User, info: RequestInfo): boolean {
  if (!(subjects ?? []).some((subject) => isSubject(subject, user))) return false;
  return info.type === 'resource'
    ? resourceRules.some((rule) => matchesResource(rule, info))
    : nonResourceRules.some((rule) => includes(rule.verbs, info.verb) && matchesPath(rule, info.path));
}

function isSubject({ kind, user: named, group, serviceAccount }: FlowcontrolSubject, { name, groups }: User): boolean {
  switch (kind) {
    case 'User':
      return named?.name === '*' || named?.name === name;
    case 'Group':
      return group !== undefined && (group.name === '*' || groups.includes(group.name));
    default: {
      if (serviceAccount === undefined) return false;
      const prefix = `system:serviceaccount:${serviceAccount.namespace}:`;
      return serviceAccount.name === '*' ? name.startsWith(prefix) : name === prefix + serviceAccount.name;
    }
  }
}

const includes = (list: readonly string[] | null, value: string): boolean => list !== null && (list.includes('*') || list.includes(value));

function matchesResource({ verbs, apiGroups, resources, namespaces, clusterScope = false }: ResourcePolicyRule, info: ResourceRequestInfo): boolean {
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`;
  if (!includes(verbs, info.verb) || !includes(apiGroups, info.group) || !includes(resources, resource)) return false;
  return info.namespace === '' ? clusterScope : includes(namespaces, info.namespace);
}

const matchesPath = ({ nonResourceURLs }: NonResourcePolicyRule, path: string): boolean =>
  (nonResourceURLs ?? []).some((url) => url === '*' || url === path || (url.endsWith('/*') && path.startsWith(url.slice(0, -1))));
