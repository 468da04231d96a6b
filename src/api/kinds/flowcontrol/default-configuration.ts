/** The objects that every cluster has (upstream: apiserver/pkg/apis/flowcontrol/bootstrap/default.go). */
import type { FlowcontrolSubject, FlowSchemaSpec, PolicyRulesWithSubjects, PriorityLevelConfigurationSpec } from '../../generated/types.ts';

const group = (name: string): FlowcontrolSubject => ({ kind: 'Group', group: { name } });
const user = (name: string): FlowcontrolSubject => ({ kind: 'User', user: { name } });
const kubeSystemAccounts: FlowcontrolSubject = { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } };
const everyUser = [group('system:unauthenticated'), group('system:authenticated')];

const everything = (...subjects: FlowcontrolSubject[]): PolicyRulesWithSubjects => ({
  subjects,
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
});

interface Matching {
  readonly level: string;
  readonly precedence: number;
  readonly by?: 'ByUser' | 'ByNamespace';
}

const schema = ({ level, precedence, by }: Matching, rules: PolicyRulesWithSubjects): FlowSchemaSpec => ({
  priorityLevelConfiguration: { name: level },
  matchingPrecedence: precedence,
  ...(by === undefined ? {} : { distinguisherMethod: { type: by } }),
  rules: [rules],
});

/** These may not be changed. */
export const mandatoryFlowSchemas: Readonly<Record<string, FlowSchemaSpec>> = {
  exempt: schema({ level: 'exempt', precedence: 1 }, everything(group('system:masters'))),
  'catch-all': schema({ level: 'catch-all', precedence: 10_000, by: 'ByUser' }, everything(...everyUser)),
};

const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] };

export const suggestedFlowSchemas: Readonly<Record<string, FlowSchemaSpec>> = {
  probes: schema(
    { level: 'exempt', precedence: 2 },
    { subjects: everyUser, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }] },
  ),
  'system-leader-election': schema(
    { level: 'leader-election', precedence: 100, by: 'ByUser' },
    {
      subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler'), kubeSystemAccounts],
      resourceRules: [{ verbs: ['get', 'create', 'update'], ...leases }],
    },
  ),
  'system-node-high': schema(
    { level: 'node-high', precedence: 400, by: 'ByUser' },
    {
      subjects: [group('system:nodes')],
      resourceRules: [
        { verbs: ['*'], apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, namespaces: ['*'] },
        { verbs: ['*'], ...leases },
      ],
    },
  ),
  'system-nodes': schema({ level: 'system', precedence: 500, by: 'ByUser' }, everything(group('system:nodes'))),
  'kube-controller-manager': schema({ level: 'workload-high', precedence: 800, by: 'ByNamespace' }, everything(user('system:kube-controller-manager'))),
  'kube-scheduler': schema({ level: 'workload-high', precedence: 800, by: 'ByNamespace' }, everything(user('system:kube-scheduler'))),
  'kube-system-service-accounts': schema({ level: 'workload-high', precedence: 900, by: 'ByNamespace' }, everything(kubeSystemAccounts)),
  'service-accounts': schema({ level: 'workload-low', precedence: 9_000, by: 'ByUser' }, everything(group('system:serviceaccounts'))),
  'global-default': schema({ level: 'global-default', precedence: 9_900, by: 'ByUser' }, everything(...everyUser)),
};

/** These may not be changed, except for what `exempt` lends. */
export const mandatoryPriorityLevels: Readonly<Record<string, PriorityLevelConfigurationSpec>> = {
  exempt: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  'catch-all': { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 } },
};

interface Shares {
  readonly shares: number;
  readonly lendable: number;
  readonly queues: number;
  readonly handSize: number;
}

const limited = ({ shares, lendable, queues, handSize }: Shares): PriorityLevelConfigurationSpec => ({
  type: 'Limited',
  limited: {
    nominalConcurrencyShares: shares,
    limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
    lendablePercent: lendable,
  },
});

export const suggestedPriorityLevels: Readonly<Record<string, PriorityLevelConfigurationSpec>> = {
  system: limited({ shares: 30, lendable: 33, queues: 64, handSize: 6 }),
  'node-high': limited({ shares: 40, lendable: 25, queues: 64, handSize: 6 }),
  'leader-election': limited({ shares: 10, lendable: 0, queues: 16, handSize: 4 }),
  'workload-high': limited({ shares: 40, lendable: 50, queues: 128, handSize: 6 }),
  'workload-low': limited({ shares: 100, lendable: 90, queues: 128, handSize: 6 }),
  'global-default': limited({ shares: 20, lendable: 50, queues: 128, handSize: 6 }),
};
