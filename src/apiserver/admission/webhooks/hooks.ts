import type { MutatingWebhook, MutatingWebhookConfiguration, ValidatingWebhook, ValidatingWebhookConfiguration } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { MatchCriteria } from '../matching/rules.ts';
import { type Selectors, selectorsOf } from '../matching/selectors.ts';

export interface Hook<T extends ValidatingWebhook | MutatingWebhook = ValidatingWebhook | MutatingWebhook> extends MatchCriteria {
  /** Unique, also among webhooks of the same name in one configuration. */
  readonly id: string;
  readonly webhook: T;
  readonly configuration: string;
  readonly selectors: Selectors;
}

type Configuration<T> = T extends MutatingWebhook ? MutatingWebhookConfiguration : ValidatingWebhookConfiguration;

/** In the order of calls: configurations by name, webhooks as listed. */
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
