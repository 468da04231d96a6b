import type { ConfigMap, ServiceAccount } from '../../../api/generated/types.ts';
import type { Kind } from '../../../api/kind.ts';
import type { Client, Draft, Result } from '../../../client/client.ts';
import type { Decision } from '../../../client/decision.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';

export type ServiceAccountAction =
  | { readonly type: 'create-account'; readonly account: Draft<ServiceAccount> }
  | { readonly type: 'create-map'; readonly map: Draft<ConfigMap> }
  | { readonly type: 'update-map'; readonly map: ConfigMap };

export type ServiceAccountDecision = Decision<ServiceAccountAction>;

export interface ServiceAccountKinds {
  readonly serviceAccount: Kind<ServiceAccount>;
  readonly configMap: Kind<ConfigMap>;
}

export async function perform(action: ServiceAccountAction, client: Client, kinds: ServiceAccountKinds): Promise<Outcome> {
  switch (action.type) {
    case 'create-account':
      return created(await client.create(kinds.serviceAccount, action.account));
    case 'create-map':
      return created(await client.create(kinds.configMap, action.map));
    case 'update-map':
      return outcomeOf(await client.update(kinds.configMap, action.map));
  }
}

/** Made by somebody else meanwhile, or too late because the namespace goes: both come in through the caches. */
function created(result: Result<unknown>): Outcome {
  const notNeeded = !result.ok && (result.reason === 'alreadyExists' || result.reason === 'terminating' || result.reason === 'notFound');
  return notNeeded ? 'done' : outcomeOf(result);
}
