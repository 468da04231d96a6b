/** What nodes may do, after Kubernetes' Node authorizer (v1.36: plugin/pkg/auth/authorizer/node). What they may write is confined further by admission: node-restriction. */
import type { RequestInfo } from '../../../api/request-info.ts';
import { parseFieldSelector, requiredValue } from '../../../api/selectors/field-selector.ts';
import { SelectorError } from '../../../api/selectors/label-selector.ts';
import type { User } from '../../api.ts';
import type { AuthorizationDecision, Authorizer } from '../authorizer.ts';
import { ruleAllows } from '../rbac/rule.ts';
import { systemRoles } from '../rbac/system-roles.ts';
import { nodeOf } from '../../user.ts';
import type { PopulatedGraph } from './graph-populator.ts';
import type { GraphVertexKind, GraphVertex } from './graph.ts';

type Asked = Extract<RequestInfo, { type: 'resource' }>;

/** Allowed; why not; or allowed if the object concerns the node. */
type Verdict = typeof allowed | { readonly allowed: false; readonly reason: string } | { readonly concerning: GraphVertex };

const allowed = { allowed: true } as const;
const no = (reason: string): Verdict => ({ allowed: false, reason });

type Rule = (asked: Asked, node: string) => Verdict;

function requirePath(kind: GraphVertexKind, { namespace, name }: Asked): Verdict {
  return name === '' ? no('No Object name found') : { concerning: { kind, namespace, name } };
}

function get(kind: GraphVertexKind, asked: Asked): Verdict {
  if (asked.verb !== 'get') return no('can only get individual resources of this type');
  return asked.subresource === '' ? requirePath(kind, asked) : no('cannot get subresource');
}

function readNamespaced(kind: GraphVertexKind, asked: Asked): Verdict {
  if (!['get', 'list', 'watch'].includes(asked.verb)) return no('can only read resources of this type');
  if (asked.subresource !== '') return no('cannot read subresource');
  return asked.namespace === '' ? no('can only read namespaced object of this type') : requirePath(kind, asked);
}

function claims(asked: Asked): Verdict {
  if (asked.subresource !== 'status') return get('persistentvolumeclaims', asked);
  return ['update', 'patch'].includes(asked.verb) ? requirePath('persistentvolumeclaims', asked) : no('can only get/update/patch this type');
}

function serviceAccounts(asked: Asked): Verdict {
  if (asked.verb === 'get' && asked.subresource === '') return readNamespaced('serviceaccounts', asked);
  if (asked.verb !== 'create' || asked.name === '') return no('can only create tokens for individual service accounts');
  return asked.subresource === 'token' ? requirePath('serviceaccounts', asked) : no('can only create token subresource of serviceaccount');
}

const ownVerbs = ['get', 'create', 'update', 'patch', 'delete'];

/** When something is created, its name is not known yet: admission looks at it. */
const isOwnObject = ({ verb, name }: Asked, node: string): boolean => verb === 'create' || name === node;

function leases(asked: Asked, node: string): Verdict {
  if (!ownVerbs.includes(asked.verb)) return no('can only get, create, update, patch, or delete a node lease');
  if (asked.namespace !== 'kube-node-lease') return no('can only access leases in the "kube-node-lease" system namespace');
  return isOwnObject(asked, node) ? allowed : no('can only access node lease with the same name as the requesting node');
}

function csiNodes(asked: Asked, node: string): Verdict {
  if (!ownVerbs.includes(asked.verb)) return no('can only get, create, update, patch, or delete a CSINode');
  if (asked.subresource !== '') return no('cannot authorize CSINode subresources');
  return isOwnObject(asked, node) ? allowed : no('can only access CSINode with the same name as the requesting node');
}

function nodes({ subresource, verb, name }: Asked, node: string): Verdict {
  const writes = ['update', 'patch'].includes(verb) && (subresource === '' || subresource === 'status');
  if (writes || (subresource === '' && verb === 'create')) return allowed;
  if (subresource !== '' || !['get', 'list', 'watch'].includes(verb)) return no('');
  if (name === node) return allowed;
  return no(`node '${node}' cannot read ${name === '' ? 'all nodes' : `'${name}'`}, only its own Node object`);
}

function pods(asked: Asked, node: string): Verdict {
  const { subresource, verb, name } = asked;
  if (subresource === 'status') return ['update', 'patch'].includes(verb) ? allowed : no('');
  if (subresource === 'eviction') return verb === 'create' ? allowed : no('');
  if (subresource !== '') return no('');
  switch (verb) {
    case 'create':
    case 'delete':
      return allowed;
    case 'get':
      return get('pods', asked);
    case 'list':
    case 'watch':
      if (selectsNode(asked.fieldSelector, node)) return allowed;
      return name === '' ? no('can only list/watch pods with spec.nodeName field selector') : requirePath('pods', asked);
    default:
      return no('');
  }
}

/** Whether a list is narrowed down to what is on the node. */
function selectsNode(selector: string | undefined, node: string): boolean {
  if (selector === undefined) return false;
  try {
    return requiredValue(parseFieldSelector(selector), 'spec.nodeName') === node;
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

/** By group and resource; the role `system:node` decides everything else. */
const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['/secrets', (asked) => readNamespaced('secrets', asked)],
  ['/configmaps', (asked) => readNamespaced('configmaps', asked)],
  ['/persistentvolumeclaims', claims],
  ['/persistentvolumes', (asked) => get('persistentvolumes', asked)],
  ['storage.k8s.io/volumeattachments', (asked) => get('volumeattachments', asked)],
  ['/serviceaccounts', serviceAccounts],
  ['coordination.k8s.io/leases', leases],
  ['storage.k8s.io/csinodes', csiNodes],
  ['/nodes', nodes],
  ['/pods', pods],
  // Of kinds that are not served here: a custom resource of their name is nothing that a node has a right to.
  ['resource.k8s.io/resourceclaims', () => no('')],
  ['resource.k8s.io/resourceslices', () => no('')],
  ['certificates.k8s.io/podcertificaterequests', () => no('')],
]);

const roleRules = systemRoles['system:node'] ?? [];

function evaluate(asked: Asked, node: string): Verdict {
  const rule = rules.get(`${asked.group}/${asked.resource}`);
  if (rule !== undefined) return rule(asked, node);
  return roleRules.some((one) => ruleAllows(one, asked)) ? allowed : no('');
}

/** Decides for nodes: requests about themselves and their pods. `others` decide everything else. */
export function nodeAuthorizer(graph: Pick<PopulatedGraph, 'current'>, others: Authorizer): Authorizer {
  const withOthers = async (user: User, info: RequestInfo, reason: string): Promise<AuthorizationDecision> => {
    const decision = await others.authorize(user, info);
    return decision.allowed || reason === '' ? decision : { allowed: false, reason: decision.reason === '' ? reason : `${reason}\n${decision.reason}` };
  };
  return {
    authorize(user, info) {
      const node = nodeOf(user);
      if (node === undefined || info.type === 'path') return others.authorize(user, info);
      if (node === '') return withOthers(user, info, `unknown node for user ${JSON.stringify(user.name)}`);
      const verdict = evaluate(info, node);
      if ('concerning' in verdict) {
        return decideBy(graph, node, verdict.concerning).then((concerned) =>
          concerned ? allowed : withOthers(user, info, `no relationship found between node '${node}' and this object`),
        );
      }
      return verdict.allowed ? allowed : withOthers(user, info, verdict.reason);
    },
  };
}

const decideBy = async (graph: Pick<PopulatedGraph, 'current'>, node: string, object: GraphVertex): Promise<boolean> =>
  (await graph.current()).hasPathTo(node, object);
