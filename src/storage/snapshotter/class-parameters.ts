/** What the parameters of a class say about calls to its driver (external-snapshotter, pkg/utils/util.go). */
import { dnsLabelProblems, dnsSubdomainProblems } from '../../api/validation/names.ts';

const prefix = 'csi.storage.k8s.io/';

/** The Secrets that a class names, by what they are for. `label`: the name in messages. */
export const secretUses = {
  snapshotter: { label: 'Snapshotter', keys: 'snapshotter-secret' },
  list: { label: 'SnapshotterList', keys: 'snapshotter-list-secret' },
  groupSnapshotter: { label: 'GroupSnapshotter', keys: 'group-snapshotter-secret' },
  groupGet: { label: 'GroupSnapshotterGet', keys: 'group-snapshotter-get-secret' },
} as const;

export type SecretUse = (typeof secretUses)[keyof typeof secretUses];

type Parameters = Readonly<Record<string, string>>;

export interface SecretRef {
  readonly namespace: string;
  readonly name: string;
}

export type Resolved<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

const wrong = (message: string): { readonly ok: false; readonly message: string } => ({ ok: false, message });

/** `names`: the values of tokens in a name's template; those ending in '.name' of a user's object are not allowed in a namespace's. */
export interface TemplateValues {
  readonly name: Readonly<Record<string, string>>;
  readonly namespace: Readonly<Record<string, string>>;
}

/** The values for the templates of a snapshot's class. */
export const snapshotTokens = (content: string, snapshot?: { readonly namespace: string; readonly name: string }): TemplateValues =>
  tokens({ content: 'volumesnapshotcontent', object: 'volumesnapshot' }, content, snapshot);

/** The same of a group's class. */
export const groupTokens = (content: string, group?: { readonly namespace: string; readonly name: string }): TemplateValues =>
  tokens({ content: 'volumegroupsnapshotcontent', object: 'volumegroupsnapshot' }, content, group);

function tokens(
  kinds: { readonly content: string; readonly object: string },
  content: string,
  object: { readonly namespace: string; readonly name: string } | undefined,
): TemplateValues {
  const namespace = { [`${kinds.content}.name`]: content, ...(object === undefined ? {} : { [`${kinds.object}.namespace`]: object.namespace }) };
  return { namespace, name: { ...namespace, ...(object === undefined ? {} : { [`${kinds.object}.name`]: object.name }) } };
}

/** Undefined: the class names no Secret for this. */
export function secretOf(parameters: Parameters = {}, use: SecretUse, values: TemplateValues): Resolved<SecretRef | undefined> {
  const [nameTemplate, namespaceTemplate] = [parameters[`${prefix}${use.keys}-name`], parameters[`${prefix}${use.keys}-namespace`]];
  if (nameTemplate === undefined && namespaceTemplate === undefined) return { ok: true, value: undefined };
  const failed = 'failed to get name and namespace template from params: ';
  if (nameTemplate === undefined || namespaceTemplate === undefined)
    return wrong(`${failed}either name and namespace for ${use.label} secrets specified, Both must be specified`);
  if (nameTemplate === '' || namespaceTemplate === '')
    return wrong(`${failed}${use.label} secrets specified in parameters but value of either namespace or name is empty`);
  const namespace = resolve(namespaceTemplate, values.namespace, { noun: 'namespace name', problems: dnsLabelProblems });
  if (!namespace.ok) return namespace;
  const name = resolve(nameTemplate, values.name, { noun: 'secret name', problems: dnsSubdomainProblems });
  return name.ok ? { ok: true, value: { namespace: namespace.value, name: name.value } } : name;
}

interface ValueRules {
  readonly noun: string;
  readonly problems: (value: string) => readonly string[];
}

function resolve(template: string, values: Readonly<Record<string, string>>, { noun, problems }: ValueRules): Resolved<string> {
  const missing = new Set<string>();
  const resolved = template.replace(/\$\{([^}]{0,1024})\}/g, (_, token: string) => {
    if (Object.hasOwn(values, token)) return values[token] ?? '';
    missing.add(token);
    return '';
  });
  if (missing.size > 0) {
    const list = [...missing].sort().map((token) => JSON.stringify(token));
    return wrong(`error resolving value ${JSON.stringify(template)}: invalid tokens: [${list.join(' ')}]`);
  }
  if (problems(resolved).length === 0) return { ok: true, value: resolved };
  const result = template === resolved ? '' : ` resolved to ${JSON.stringify(resolved)} which`;
  return wrong(`${JSON.stringify(template)}${result} is not a valid ${noun}`);
}

const reserved: ReadonlySet<string> = new Set(Object.values(secretUses).flatMap(({ keys }) => [`${prefix}${keys}-name`, `${prefix}${keys}-namespace`]));

/** The parameters that the driver gets: without those that are the snapshotter's own. */
export function driverParameters(parameters: Parameters = {}): Resolved<Parameters> {
  const unknown = Object.keys(parameters).find((key) => key.startsWith(prefix) && !reserved.has(key));
  if (unknown !== undefined) return wrong(`found unknown parameter key "${unknown}" with reserved namespace ${prefix}`);
  return { ok: true, value: Object.fromEntries(Object.entries(parameters).filter(([key]) => !key.startsWith(prefix))) };
}
