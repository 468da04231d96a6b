import { loadExpressions } from '../api/admission/expressions.ts';
import { loadCel } from '../api/cel/environment.ts';
import type { Kind } from '../api/kind.ts';
import { predefinedDefinitions, predefinedGroups } from '../api/kinds/predefined-kinds.ts';
import { isRead } from '../api/request-info.ts';
import type { Store } from '../store/contract.ts';
import type { World } from '../world/world.ts';
import { type AdmitConnect, connectAdmission } from './admission/connect.ts';
import { DynamicAdmission } from './admission/dynamic-admission.ts';
import { orderedPlugins } from './admission/plugin-order.ts';
import type { PodSecurityConfiguration } from './admission/plugins/pod-security/configuration.ts';
import { defaultServiceNetwork, type ServiceNetwork } from './admission/plugins/service-allocation.ts';
import type { AccessRules } from './admission/plugins/role-escalation.ts';
import type { WebhookCaller } from './admission/webhooks/caller.ts';
import type { Api } from './api.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import type { TokenIssuer } from './authentication/token-issuer.ts';
import { CustomResources } from './apiextensions/custom-resources.ts';
import { volumeBindings } from './registry/volume-bindings/volume-binding.ts';
import { compactPeriodically } from './registry/compaction.ts';
import { Dispatcher, type ReadOnlyResource } from './registry/dispatch.ts';
import { expireEvents } from './registry/event-ttl.ts';
import type { FlowConfiguration } from './flow-control/flow-configuration.ts';
import { followFlowConfiguration } from './flow-control/follow-configuration.ts';
import { Metrics } from './metrics/metrics.ts';
import { KeyLocks } from './objects/locks.ts';
import { ListCache } from './objects/list-cache.ts';
import type { Registry } from './registry/registry.ts';
import { createReviews } from './registry/reviews/reviews.ts';
import { Resources } from './objects/resources.ts';
import { storeFailure } from './objects/transaction.ts';

export interface ApiOptions {
  readonly store: Store;
  readonly kinds: readonly Kind[];
  readonly world: World;
  /** For service accounts; without it, no tokens are issued. */
  readonly tokens?: Pick<TokenIssuer, 'issue'> & Partial<Pick<TokenIssuer, 'review'>>;
  readonly network?: ServiceNetwork;
  /** Absent: privilege escalation is not checked, and reviews are not served. */
  readonly access?: AccessRules;
  /** Serves Mooring's extensions (docs/EXTENSIONS.md); the authorizer decides on each object that one request writes. */
  readonly extensions?: { readonly authorizer: Authorizer; readonly readOnly?: readonly ReadOnlyResource[] } | undefined;
  /** How admission webhooks are called; without it, they fail. */
  readonly webhooks?: WebhookCaller;
  /** Absent: namespaces without labels are privileged, and nothing is exempt. */
  readonly podSecurity?: PodSecurityConfiguration | undefined;
  /** Admission plugins that are left out, by their names. */
  readonly disabledPlugins?: readonly string[] | undefined;
  /** Where admission is counted. */
  readonly metrics?: Metrics;
  /** Of several servers with one store, one removes expired events. Absent: this one. */
  readonly expiresEvents?: () => boolean;
}

export interface RunningApi extends Api {
  /** Admission of exec, attach, port-forward and proxies. */
  readonly admitConnect: AdmitConnect;
  /** What FlowSchemas and PriorityLevelConfigurations say now. */
  flowConfiguration(): FlowConfiguration;
  /** The kinds of CustomResourceDefinitions. The same list until they change. */
  customKinds(): readonly Kind[];
  /** Ends compaction and the expiry of events. Requests are answered as long as the store is open. */
  stop(): Promise<void>;
}

/** The API below HTTP, on a store. */
export function createApi(options: ApiOptions): RunningApi {
  const { store, kinds, world, tokens, access, extensions, webhooks, podSecurity, network = defaultServiceNetwork, metrics = new Metrics() } = options;
  const resources = new Resources(kinds);
  const dynamicAdmission = new DynamicAdmission({ store, world, resources, caller: webhooks, authorizer: access?.authorizer });
  const disabled = options.disabledPlugins;
  const admission = orderedPlugins(resources, { store, world, network, access, dynamic: dynamicAdmission, metrics, podSecurity, disabled });
  const registry: Registry = {
    store,
    resources,
    world,
    admission,
    locks: new KeyLocks(world.timers),
    listCache: new ListCache(world),
    authorizer: access?.authorizer,
  };
  const flowControl = followFlowConfiguration({ store, world }, resources);
  const createOnly = [
    ...(access === undefined ? [] : createReviews({ access, tokens, world })),
    ...(extensions === undefined ? [] : [volumeBindings(registry, extensions.authorizer)]),
  ];
  const dispatcher = new Dispatcher({ registry, tokens, createOnly, readOnly: extensions?.readOnly ?? [] });
  const background = [compactPeriodically({ store, world }), expireEvents({ store, world, isDue: options.expiresEvents }, resources.require('v1', 'events'))];
  const api: RunningApi = {
    handle: async (request) => {
      try {
        if (dynamicAdmission.loading !== undefined) await dynamicAdmission.loading;
        const { info } = request;
        if (info.type === 'resource' && !isRead(info)) await loadLibraries(info.group);
        if (custom?.loading !== undefined) await custom.loading;
        return await dispatcher.dispatch(request);
      } catch (error) {
        throw storeFailure(error);
      }
    },
    admitConnect: connectAdmission({ store, world, resources, dynamic: dynamicAdmission }),
    flowConfiguration: () => flowControl.current,
    customKinds: () => custom?.kinds() ?? noKinds,
    stop: async () => {
      custom?.stop();
      flowControl.stop();
      dynamicAdmission.stop();
      webhooks?.stop();
      for (const cancel of background) cancel();
    },
  };
  const custom =
    resources.find('apiextensions.k8s.io/v1', 'customresourcedefinitions') === undefined
      ? undefined
      : new CustomResources({ store, world, resources, api, predefined: predefinedDefinitions });
  return api;
}

/** Libraries that writes of a group need: the expressions of a definition or a policy are compiled with it. */
const loadFor: Readonly<Record<string, () => Promise<unknown>>> = {
  'apiextensions.k8s.io': loadCel,
  'resource.k8s.io': loadCel,
  'admissionregistration.k8s.io': loadExpressions,
  ...Object.fromEntries(predefinedGroups.map((group) => [group, loadCel])),
};

/** Loads them before the first write of the group needs them: on virtual time, loading from a disk would take an unknown time. */
export async function loadLibraries(group: string): Promise<void> {
  await loadFor[group]?.();
}

const noKinds: readonly Kind[] = [];
