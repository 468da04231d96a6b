import type { ConfigMap, ServiceAccount } from '../../../api/generated/types.ts';
import type { Draft } from '../../../client/client.ts';
import type { Decision, ObjectWrite } from '../../../client/decision.ts';

export type ServiceAccountAction =
  | { readonly do: 'createAccount'; readonly account: Draft<ServiceAccount> }
  | { readonly do: 'createMap'; readonly map: Draft<ConfigMap> }
  | ObjectWrite<ConfigMap>;

export type ServiceAccountDecision = Decision<ServiceAccountAction>;
