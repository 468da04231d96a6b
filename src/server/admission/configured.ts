/**
 * What others have a say in: webhooks and policies. As long as nobody configured any, a write pays for it with a look at a boolean.
 */
import { admissionGroup } from '../../api/kinds/admission/admission-kind.ts';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
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
import { operationOf } from './matching/attributes.ts';
import { Followed } from './matching/follow.ts';
import { Reinvocation } from './matching/reinvocation.ts';
import { RuleBook } from './matching/rule-book.ts';
import type { Asked } from './matching/rules.ts';
import { NamespaceReader } from './matching/selectors.ts';
import type { PolicyDependencies } from './policies/dependencies.ts';
import { type PolicyHook, policyHooks } from './policies/hooks.ts';
import { applyPolicies, type MutatingHook } from './policies/mutating.ts';
import { askPolicies } from './policies/validating.ts';
import type { WebhookCaller } from './webhooks/caller.ts';
import { WebhookClient } from './webhooks/client.ts';
import type { WebhookDependencies } from './webhooks/dispatch.ts';
import { type Hook, hooksOf } from './webhooks/hooks.ts';
import { askMutating } from './webhooks/mutating.ts';
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
  readonly #mutatingPolicies: RuleBook<MutatingHook>;
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
    this.#mutatingPolicies = new RuleBook(resources);
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
    const pair = <P extends KubeObject, B extends KubeObject>(
      plural: string,
      ofBindings: string,
      rebuild: (policies: readonly P[], bindings: readonly B[]) => void,
    ): void => {
      let policies: readonly P[] = [];
      let bindings: readonly B[] = [];
      follow<P>(plural, (all) => rebuild((policies = all), bindings));
      follow<B>(ofBindings, (all) => rebuild(policies, (bindings = all)));
    };
    pair<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>(
      'validatingadmissionpolicies',
      'validatingadmissionpolicybindings',
      (policies, bindings) => this.#policies.replace(policyHooks(policies, bindings)),
    );
    pair<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding>('mutatingadmissionpolicies', 'mutatingadmissionpolicybindings', (policies, bindings) =>
      this.#mutatingPolicies.replace(policyHooks(policies, bindings)),
    );
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
      mutate: (request) => (concerns(request, this.#mutatingPolicies, this.#mutatingHooks) ? this.#mutate(request, earlier) : undefined),
    };
  }

  validating(): AdmissionPlugin {
    return {
      name: 'ValidatingAdmissionWebhook',
      handles,
      validate: (request) => (concerns(request, this.#policies, this.#validatingHooks) ? this.#validate(request) : undefined),
    };
  }

  async #mutate(request: AdmissionRequest, earlier: AdmissionChain): Promise<void> {
    const policies = { deps: this.#lookups, reinvocation: new Reinvocation() };
    const webhooks = { deps: this.#webhooks, reinvocation: new Reinvocation() };
    const round = async (): Promise<void> => {
      await applyPolicies(this.#mutatingPolicies, request, policies);
      await askMutating(this.#mutatingHooks, request, webhooks);
    };
    await round();
    if (!policies.reinvocation.needed && !webhooks.reinvocation.needed) return;
    await earlier.mutate(request);
    await round();
  }

  async #validate(request: AdmissionRequest): Promise<void> {
    await askPolicies(this.#policies, request, this.#lookups);
    await askValidating(this.#validatingHooks, request, this.#webhooks);
  }
}

interface Concerned {
  readonly isEmpty: boolean;
  about(asked: Asked): readonly unknown[];
}

/** Whether anybody wants to see such requests at all. */
function concerns({ operation, resource, subresource }: AdmissionRequest, ...books: readonly Concerned[]): boolean {
  if (books.every(({ isEmpty }) => isEmpty)) return false;
  return books.some((book) => book.about({ operation: operationOf[operation], resource, subresource }).length > 0);
}

/** Nobody has a say in who has a say: whoever locks everybody out must be able to undo it. */
const handles: AdmissionPlugin['handles'] = (_, { kind }) => kind.group !== admissionGroup;
