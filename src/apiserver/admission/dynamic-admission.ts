/**
 * Dynamic admission control: webhooks and admission policies. Without any configured, a write costs one check of a boolean.
 */
import { admissionGroup } from '../../api/kinds/admissionregistration/admission-kind.ts';
import { mutatingAdmissionPolicyKind } from '../../api/kinds/admissionregistration/mutating-policies.ts';
import { mutatingAdmissionPolicyBindingKind, validatingAdmissionPolicyBindingKind } from '../../api/kinds/admissionregistration/policy-bindings.ts';
import { validatingAdmissionPolicyKind } from '../../api/kinds/admissionregistration/validating-policies.ts';
import { mutatingWebhookConfigurationKind, validatingWebhookConfigurationKind } from '../../api/kinds/admissionregistration/webhook-configurations.ts';
import type { MutatingWebhook, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhook } from '../../api/generated/types.ts';
import { apiVersionOf, type Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import type { Store } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { Resources } from '../objects/resources.ts';
import { AdmissionChain, type AdmissionPlugin, type AdmissionRequest } from './chain.ts';
import { ClusterReader } from '../objects/cluster-reader.ts';
import { operationOf } from './matching/attributes.ts';
import { StoreInformer } from '../objects/store-informer.ts';
import { Reinvocation } from './matching/reinvocation.ts';
import { RuleIndex } from './matching/rule-index.ts';
import type { MatchAttributes } from './matching/rules.ts';
import { NamespaceReader } from './matching/selectors.ts';
import type { PolicyContext } from './policies/policy-context.ts';
import { type PolicyHook, policyHooks } from './policies/hooks.ts';
import { runMutatingPolicies, type MutatingHook } from './policies/mutating.ts';
import { runValidatingPolicies } from './policies/validating.ts';
import type { WebhookCaller } from './webhooks/caller.ts';
import { WebhookClient } from './webhooks/client.ts';
import type { WebhookContext } from './webhooks/dispatch.ts';
import { type Hook, hooksOf } from './webhooks/hooks.ts';
import { callMutatingWebhooks } from './webhooks/mutating.ts';
import { ServiceResolver } from './webhooks/service-resolver.ts';
import { callValidatingWebhooks } from './webhooks/validating.ts';

export interface DynamicAdmissionContext {
  readonly store: Store;
  readonly world: World;
  readonly resources: Resources;
  /** Absent: there is no network, and calls of webhooks fail. */
  readonly caller: WebhookCaller | undefined;
  readonly authorizer: Authorizer | undefined;
}

export class DynamicAdmission {
  readonly #mutatingHooks: RuleIndex<Hook<MutatingWebhook>>;
  readonly #validatingHooks: RuleIndex<Hook<ValidatingWebhook>>;
  readonly #policies: RuleIndex<PolicyHook<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>>;
  readonly #mutatingPolicies: RuleIndex<MutatingHook>;
  readonly #followed: Pick<StoreInformer<KubeObject>, 'start' | 'stop'>[] = [];
  readonly #webhooks: WebhookContext;
  readonly #lookups: PolicyContext;
  /** Undefined once all configurations that were stored at the start are read. */
  loading: Promise<void> | undefined;

  constructor({ store, world, resources, caller, authorizer }: DynamicAdmissionContext) {
    const reader = new ClusterReader(store);
    const namespaces = new NamespaceReader(reader, resources);
    const services = new ServiceResolver(reader, resources, world.random);
    this.#webhooks = { client: new WebhookClient({ caller, services, world }), namespaces, authorizer, world };
    this.#lookups = { reader, namespaces, resources, authorizer };
    this.#mutatingHooks = new RuleIndex(resources);
    this.#validatingHooks = new RuleIndex(resources);
    this.#policies = new RuleIndex(resources);
    this.#mutatingPolicies = new RuleIndex(resources);
    this.#follow({ store, world, resources });
    this.loading = Promise.all(this.#followed.map((one) => one.start())).then(() => {
      this.loading = undefined;
    });
  }

  #follow({ store, world, resources }: Pick<DynamicAdmissionContext, 'store' | 'world' | 'resources'>): void {
    const follow = <T extends KubeObject>(kind: Kind<T>, changed: (objects: readonly Stored<T>[]) => void): void => {
      const resource = resources.find(apiVersionOf(kind), kind.plural);
      if (resource !== undefined) this.#followed.push(new StoreInformer({ store, timers: world.timers }, resource, changed));
    };
    const pair = <P extends KubeObject, B extends KubeObject>(
      kinds: readonly [Kind<P>, Kind<B>],
      rebuild: (policies: readonly Stored<P>[], bindings: readonly Stored<B>[]) => void,
    ) => {
      let policies: readonly Stored<P>[] = [];
      let bindings: readonly Stored<B>[] = [];
      follow(kinds[0], (all) => rebuild((policies = all), bindings));
      follow(kinds[1], (all) => rebuild(policies, (bindings = all)));
    };
    follow(mutatingWebhookConfigurationKind, (all) => this.#mutatingHooks.replace(hooksOf<MutatingWebhook>(all)));
    follow(validatingWebhookConfigurationKind, (all) => this.#validatingHooks.replace(hooksOf<ValidatingWebhook>(all)));
    pair([mutatingAdmissionPolicyKind, mutatingAdmissionPolicyBindingKind], (policies, bindings) =>
      this.#mutatingPolicies.replace(policyHooks(policies, bindings)),
    );
    pair([validatingAdmissionPolicyKind, validatingAdmissionPolicyBindingKind], (policies, bindings) =>
      this.#policies.replace(policyHooks(policies, bindings)),
    );
  }

  stop(): void {
    for (const one of this.#followed) one.stop();
  }

  /** `before`: the plugins in front of the webhooks; they run again after a webhook has changed the object. */
  mutating(before: readonly AdmissionPlugin[]): AdmissionPlugin {
    const earlier = new AdmissionChain(before);
    return {
      name: 'MutatingAdmissionWebhook',
      handles,
      mutate: (request) => {
        if (this.#mutatingPolicies.isEmpty && this.#mutatingHooks.isEmpty) return undefined;
        return concerns(request, this.#mutatingPolicies, this.#mutatingHooks) ? this.#mutate(request, earlier) : undefined;
      },
    };
  }

  validating(): AdmissionPlugin {
    return {
      name: 'ValidatingAdmissionWebhook',
      handles,
      validate: (request) => {
        if (this.#policies.isEmpty && this.#validatingHooks.isEmpty) return undefined;
        return concerns(request, this.#policies, this.#validatingHooks) ? this.#validate(request) : undefined;
      },
    };
  }

  async #mutate(request: AdmissionRequest, earlier: AdmissionChain): Promise<void> {
    const policies = { deps: this.#lookups, reinvocation: new Reinvocation() };
    const webhooks = { deps: this.#webhooks, reinvocation: new Reinvocation() };
    const round = async (): Promise<void> => {
      await runMutatingPolicies(this.#mutatingPolicies, request, policies);
      await callMutatingWebhooks(this.#mutatingHooks, request, webhooks);
    };
    await round();
    if (!policies.reinvocation.needed && !webhooks.reinvocation.needed) return;
    await earlier.mutate(request);
    await round();
  }

  async #validate(request: AdmissionRequest): Promise<void> {
    await runValidatingPolicies(this.#policies, request, this.#lookups);
    await callValidatingWebhooks(this.#validatingHooks, request, this.#webhooks);
  }
}

/** Whether any rule matches such requests. */
function concerns(
  { operation, resource, subresource }: AdmissionRequest,
  ...indexes: readonly { matching(attributes: MatchAttributes): readonly unknown[] }[]
): boolean {
  return indexes.some((index) => index.matching({ operation: operationOf[operation], resource, subresource }).length > 0);
}

/** Webhooks and policies never see writes of webhook configurations and policies: an admin must be able to undo a wrong one. */
const handles: AdmissionPlugin['handles'] = (_, { kind }) => kind.group !== admissionGroup;
