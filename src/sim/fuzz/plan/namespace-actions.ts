/** What happens in namespaces other than `default`: quotas with racing creators, and objects that are created while their namespace is deleted. */
export type NamespaceAction =
  | { readonly do: 'create-namespace' | 'delete-namespace'; readonly namespace: string }
  | { readonly do: 'create-quota'; readonly namespace: string; readonly claims: number; readonly pods: number; readonly storageGi: number }
  /** No claim may ask for more. */
  | { readonly do: 'create-limit-range'; readonly namespace: string; readonly mostGi: number }
  /** All at once. Without `storageClass`: that of the default class. */
  | { readonly do: 'create-claims'; readonly namespace: string; readonly names: readonly string[]; readonly sizeGi: number; readonly storageClass?: string }
  | { readonly do: 'create-pods' | 'delete-claims'; readonly namespace: string; readonly names: readonly string[] }
  /** The service account `default`, which every pod needs. */
  | { readonly do: 'delete-service-account'; readonly namespace: string }
  | { readonly do: 'set-default-class'; readonly name: string; readonly isDefault: boolean };
