/** The Secrets that a class names for the calls to a CSI driver: getSecretReference of external-provisioner. */
import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../api/validation/names.ts';
import type { CsiSecrets, SecretName } from '../../api/volumes/intent.ts';

export const parameterPrefix = 'csi.storage.k8s.io/';

type Parameters = Readonly<Record<string, string>>;

interface SecretParameters {
  /** As external-provisioner's messages call them. */
  readonly title: string;
  /** 'provisioner' of 'csi.storage.k8s.io/provisioner-secret-name'. */
  readonly prefix: string;
  /** The names of CSI 0.x, which still count. */
  readonly deprecated?: readonly [name: string, namespace: string];
}

const secretParameters: Readonly<Record<keyof CsiSecrets, SecretParameters>> = {
  provisioner: { title: 'Provisioner', prefix: 'provisioner-', deprecated: ['csiProvisionerSecretName', 'csiProvisionerSecretNamespace'] },
  controllerPublish: {
    title: 'ControllerPublish',
    prefix: 'controller-publish-',
    deprecated: ['csiControllerPublishSecretName', 'csiControllerPublishSecretNamespace'],
  },
  nodeStage: { title: 'NodeStage', prefix: 'node-stage-', deprecated: ['csiNodeStageSecretName', 'csiNodeStageSecretNamespace'] },
  nodePublish: { title: 'NodePublish', prefix: 'node-publish-', deprecated: ['csiNodePublishSecretName', 'csiNodePublishSecretNamespace'] },
  controllerExpand: { title: 'ControllerExpand', prefix: 'controller-expand-' },
  nodeExpand: { title: 'NodeExpand', prefix: 'node-expand-' },
  controllerModify: { title: 'ControllerModify', prefix: 'controller-modify-' },
};

const defaultSecret: SecretParameters = { title: 'Default', prefix: '' };

const keysOf = ({ prefix }: SecretParameters): readonly [name: string, namespace: string] => [
  `${parameterPrefix}${prefix}secret-name`,
  `${parameterPrefix}${prefix}secret-namespace`,
];

/** The parameters with the reserved prefix that a class may have. */
const knownParameters: ReadonlySet<string> = new Set([`${parameterPrefix}fstype`, ...[defaultSecret, ...Object.values(secretParameters)].flatMap(keysOf)]);

export type Resolved<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

const refused = (message: string): { readonly ok: false; readonly message: string } => ({ ok: false, message });

/** The class' parameters as the driver gets them: without those of the provisioner itself. */
export function driverParameters(parameters: Parameters): Resolved<Parameters> {
  const unknown = Object.keys(parameters).find((key) => key.startsWith(parameterPrefix) && !knownParameters.has(key));
  if (unknown !== undefined) {
    return refused(`failed to strip CSI Parameters of prefixed keys: found unknown parameter key "${unknown}" with reserved namespace ${parameterPrefix}`);
  }
  return { ok: true, value: Object.fromEntries(Object.entries(parameters).filter(([key]) => !key.startsWith(parameterPrefix))) };
}

export interface TemplateSubject {
  readonly volumeName: string;
  readonly claim: PersistentVolumeClaim;
}

export function secretsOf(parameters: Parameters, subject: TemplateSubject): Resolved<CsiSecrets> {
  const secrets: { -readonly [Call in keyof CsiSecrets]: SecretName } = {};
  for (const call of Object.keys(secretParameters) as (keyof CsiSecrets)[]) {
    const secret = secretOf(secretParameters[call], parameters, subject);
    if (!secret.ok) return secret;
    if (secret.value !== undefined) secrets[call] = secret.value;
  }
  return { ok: true, value: secrets };
}

function secretOf(which: SecretParameters, parameters: Parameters, subject: TemplateSubject): Resolved<SecretName | undefined> {
  const own = templatesOf(which, parameters);
  if (!own.ok) return refused(`failed to get name and namespace template from params: ${own.message}`);
  const templates = own.value === undefined ? templatesOf(defaultSecret, parameters) : own;
  if (!templates.ok) return refused(`failed to get default name and namespace template from params: ${templates.message}`);
  return templates.value === undefined ? { ok: true, value: undefined } : resolve(templates.value, subject);
}

function templatesOf(which: SecretParameters, parameters: Parameters): Resolved<SecretName | undefined> {
  const [nameKey, namespaceKey] = keysOf(which);
  const given = (keys: readonly (string | undefined)[]) => keys.flatMap((key) => (key === undefined || parameters[key] === undefined ? [] : [parameters[key]]));
  const names = given([which.deprecated?.[0], nameKey]);
  const namespaces = given([which.deprecated?.[1], namespaceKey]);
  if (names.length > 1 || namespaces.length > 1) return refused(`${which.title} secrets specified in parameters with both "csi" and "${parameterPrefix}" keys`);
  if (names.length !== namespaces.length) return refused(`either name and namespace for ${which.title} secrets specified, Both must be specified`);
  const [[name], [namespace]] = [names, namespaces];
  if (name === undefined || namespace === undefined) return { ok: true, value: undefined };
  if (name === '' || namespace === '') return refused(`${which.title} secrets specified in parameters but value of either namespace or name is empty`);
  return { ok: true, value: { name, namespace } };
}

/** A claim's author chooses its name and annotations, so a namespace must not depend on them. */
function resolve(templates: SecretName, { volumeName, claim }: TemplateSubject): Resolved<SecretName> {
  const shared = new Map([
    ['pv.name', volumeName],
    ['pvc.namespace', claim.metadata.namespace ?? ''],
  ]);
  const namespace = expand(templates.namespace, shared);
  if (!namespace.ok) return namespace;
  if (dnsLabelProblems(namespace.value).length > 0) return refused(`${shown(templates.namespace, namespace.value)} is not a valid namespace name`);
  const own = Object.entries(claim.metadata.annotations ?? {}).map(([key, value]): [string, string] => [`pvc.annotations['${key}']`, value]);
  const name = expand(templates.name, new Map([...shared, ['pvc.name', claim.metadata.name ?? ''], ...own]));
  if (!name.ok) return name;
  if (dnsSubdomainProblems(name.value).length > 0) return refused(`${shown(templates.name, name.value)} is not a valid secret name`);
  return { ok: true, value: { namespace: namespace.value, name: name.value } };
}

const shown = (template: string, value: string): string =>
  template === value ? JSON.stringify(template) : `${JSON.stringify(template)} resolved to ${JSON.stringify(value)} which`;

/** Go's os.Expand for '${token}' and '$token'. */
function expand(template: string, tokens: ReadonlyMap<string, string>): Resolved<string> {
  const missing = new Set<string>();
  const value = template.replaceAll(/\$(?:\{([^}]{0,1024})\}|([a-zA-Z0-9_]+))/g, (_, braced: string | undefined, bare: string | undefined) => {
    const token = braced ?? bare ?? '';
    if (!tokens.has(token)) missing.add(token);
    return tokens.get(token) ?? '';
  });
  if (missing.size > 0) {
    const list = [...missing].sort().map((token) => JSON.stringify(token));
    return refused(`error resolving value ${JSON.stringify(template)}: invalid tokens: [${list.join(' ')}]`);
  }
  return { ok: true, value };
}
