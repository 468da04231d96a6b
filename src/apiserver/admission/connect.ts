/** Admission of connections: what webhooks and policies say about exec, attach, port-forward and proxies. */
import type { KubeObject } from '../../api/object.ts';
import type { ResourceRequestInfo } from '../../api/request-info.ts';
import type { Store } from '../../store/contract.ts';
import type { User } from '../api.ts';
import { KeyLocks } from '../objects/locks.ts';
import type { Resources } from '../objects/resources.ts';
import { TransactionDraft } from '../objects/transaction.ts';
import type { World } from '../../world/world.ts';
import { AdmissionChain } from './chain.ts';
import type { DynamicAdmission } from './dynamic-admission.ts';

export interface ConnectRequest {
  readonly info: ResourceRequestInfo;
  readonly user: User;
  /** 'PodExecOptions', and its fields. */
  readonly options: { readonly kind: string } & Readonly<Record<string, unknown>>;
}

/** @throws ApiError if the connection is refused */
export type AdmitConnect = (request: ConnectRequest) => Promise<void>;

export interface ConnectAdmissionContext {
  readonly store: Store;
  readonly world: World;
  readonly resources: Resources;
  readonly dynamic: DynamicAdmission;
}

export function connectAdmission({ store, world, resources, dynamic }: ConnectAdmissionContext): AdmitConnect {
  const chain = new AdmissionChain([dynamic.mutating([]), dynamic.validating()]);
  const locks = new KeyLocks(world.timers);
  return async ({ info, user, options }) => {
    if (dynamic.loading !== undefined) await dynamic.loading;
    const object: KubeObject = { apiVersion: 'v1', ...options, metadata: {} };
    const request = {
      operation: 'connect' as const,
      resource: resources.require('v1', info.resource),
      subresource: info.subresource,
      namespace: info.namespace,
      name: info.name,
      object,
      old: undefined,
      user,
      dryRun: false,
      // A connection writes nothing.
      draft: new TransactionDraft(store, locks),
      warnings: new Set<string>(),
    };
    await chain.mutate(request);
    await chain.validate(request);
  };
}
