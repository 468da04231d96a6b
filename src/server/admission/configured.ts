/**
 * What others have a say in: webhooks and policies. As long as nobody configured any, a write pays for it with a look at a boolean.
 */
import { admissionGroup } from '../../api/kinds/admission/admission-kind.ts';
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Store } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';
import type { Authorizer } from '../auth/authorizer.ts';
import type { Resources } from '../registry/resources.ts';
import { AdmissionChain, type AdmissionPlugin, type AdmissionRequest } from './chain.ts';
import { ClusterReader } from './cluster-reader.ts';
import { Followed } from './matching/follow.ts';
import { RuleBook } from './matching/rule-book.ts';
import { NamespaceReader } from './matching/selectors.ts';
import type { PolicyDependencies } from './policies/dependencies.ts';
import { type PolicyHook, policyHooks } from './policies/hooks.ts';
import { askPolicies } from './policies/validating.ts';
import type { WebhookCaller } from './webhooks/caller.ts';
import { WebhookClient } from './webhooks/client.ts';
import type { WebhookDependencies } from './webhooks/dispatch.ts';
import { type Hook, hooksOf } from './webhooks/hooks.ts';
import { askMutating, Reinvocation } from './webhooks/mutating.ts';
import { ServiceAddresses } from './webhooks/services.ts';
import { askValidating } from './webhooks/validating.ts';

export interface ConfiguredDependencies {
  readonly store: Store;
  readonly world: World;
  readonly resources: Resources;
  /** Absent: there is no network, and webhooks fail. */
  readonly caller: WebhookCaller | undefined;
  readonly authorizer: Authorizer | undefined;
}

const version = `${admissionGroup}/v1`;

export class ConfiguredAdmission {
  readonly #mutatingHooks: RuleBook<Hook<MutatingWebhook>>;
  readonly #validatingHooks: RuleBook<Hook<ValidatingWebhook>>;
  readonly #policies: RuleBook<PolicyHook<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>>;
  readonly #followed: Followed<never>[] = [];
  readonly #webhooks: WebhookDependencies;
  readonly #lookups: PolicyDependencies;
  /** Undefined once everything that was configured at the start is known. */
  loading: Promise<void> | undefined;

  constructor({ store, world, resources, caller, authorizer }: ConfiguredDependencies) {
    const reader = new ClusterReader(store);
    const namespaces = new NamespaceReader(reader, resources);
    const services = new ServiceAddresses(reader, resources, world.random);
    this.#webhooks = { client: new WebhookClient({ caller, services, world }), namespaces, authorizer, world };
    this.#lookups = { reader, namespaces, resources, authorizer };
    this.#mutatingHooks = new RuleBook(resources);
    this.#validatingHooks = new RuleBook(resources);
    this.#policies = new RuleBook(resources);
    this.#follow({ store, resources });
    this.loading = Promise.all(this.#followed.map((one) => one.start())).then(() => {
      this.loading = undefined;
    });
  }

  #follow({ store, resources }: Pick<ConfiguredDependencies, 'store' | 'resources'>): void {
    const follow = <T extends KubeObject>(plural: string, changed: (objects: readonly T[]) => void): void => {
      const resource = resources.find(version, plural);
      if (resource !== undefined) this.#followed.push(new Followed<T>(store, resource, changed) as unknown as Followed<never>);
    };
    follow<MutatingWebhookConfiguration>('mutatingwebhookconfigurations', (all) => this.#mutatingHooks.replace(hooksOf<MutatingWebhook>(all)));
    follow<ValidatingWebhookConfiguration>('validatingwebhookconfigurations', (all) => this.#validatingHooks.replace(hooksOf<ValidatingWebhook>(all)));
    let policies: readonly ValidatingAdmissionPolicy[] = [];
    let bindings: readonly ValidatingAdmissionPolicyBinding[] = [];
    const rebuild = () => this.#policies.replace(policyHooks(policies, bindings));
    follow<ValidatingAdmissionPolicy>('validatingadmissionpolicies', (all) => {
      policies = all;
      rebuild();
    });
    follow<ValidatingAdmissionPolicyBinding>('validatingadmissionpolicybindings', (all) => {
      bindings = all;
      rebuild();
    });
  }

  stop(): void {
    for (const one of this.#followed) one.stop();
  }

  /** `before`: those that change objects before webhooks do; they have another look once a webhook has changed something. */
  mutating(before: readonly AdmissionPlugin[]): AdmissionPlugin {
    const earlier = new AdmissionChain(before);
    return {
      name: 'MutatingAdmissionWebhook',
      handles,
      mutate: (request) => (this.#mutatingHooks.isEmpty ? undefined : this.#mutate(request, earlier)),
    };
  }

  validating(): AdmissionPlugin {
    return {
      name: 'ValidatingAdmissionWebhook',
      handles,
      validate: (request) => (this.#policies.isEmpty && this.#validatingHooks.isEmpty ? undefined : this.#validate(request)),
    };
  }

  async #mutate(request: AdmissionRequest, earlier: AdmissionChain): Promise<void> {
    const reinvocation = new Reinvocation();
    await askMutating(this.#mutatingHooks, request, { deps: this.#webhooks, reinvocation });
    if (!reinvocation.needed) return;
    reinvocation.finish(request.object);
    await earlier.mutate(request);
    reinvocation.repeat(request.object);
    await askMutating(this.#mutatingHooks, request, { deps: this.#webhooks, reinvocation });
  }

  async #validate(request: AdmissionRequest): Promise<void> {
    if (!this.#policies.isEmpty) await askPolicies(this.#policies, request, this.#lookups);
    if (!this.#validatingHooks.isEmpty) await askValidating(this.#validatingHooks, request, this.#webhooks);
  }
}

/** Nobody has a say in who has a say: whoever locks everybody out must be able to undo it. */
const handles: AdmissionPlugin['handles'] = (_, { kind }) => kind.group !== admissionGroup;
