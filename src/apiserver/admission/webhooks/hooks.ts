import type { MutatingWebhook, MutatingWebhookConfiguration, ValidatingWebhook, ValidatingWebhookConfiguration } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { MatchCriteria } from '../matching/rules.ts';
import { type Selectors, selectorsOf } from '../matching/selectors.ts';

export interface Hook<T extends ValidatingWebhook | MutatingWebhook = ValidatingWebhook | MutatingWebhook> extends MatchCriteria {
  /** Tells it apart from all others, also from one of the same name in the same configuration. */
  readonly id: string;
  readonly webhook: T;
  readonly configuration: string;
  readonly selectors: Selectors;
}

type Configuration<T> = T extends MutatingWebhook ? MutatingWebhookConfiguration : ValidatingWebhookConfiguration;

/** In the order in which they are called: configurations by name, and webhooks as they are listed. */
export const hooksOf = <T extends ValidatingWebhook | MutatingWebhook>(configurations: readonly Stored<Configuration<T>>[]): Hook<T>[] =>
  configurations.flatMap(({ metadata: { name }, webhooks = [] }) =>
    (webhooks as T[]).map((webhook, i) => ({
      id: `${name}/${webhook.name}/${i}`,
      webhook,
      configuration: name,
      selectors: selectorsOf(webhook),
      rules: webhook.rules ?? [],
      matchPolicy: webhook.matchPolicy,
    })),
  );
