import { invalid, omittedValue, required } from '../../api/field-error.ts';
import { type ConfigFields, type ConfigFile, type Configured, readConfigFile } from '../configuration/config-file.ts';
import { aesCbc, aesGcm, identity, type NamedKey, type EncryptionProvider } from './providers.ts';

/** Which providers encrypt which resource, in the order of the file. */
export interface EncryptionRule {
  readonly resource: GroupResource;
  readonly providers: readonly EncryptionProvider[];
}

/** 'secrets', 'deployments.apps'; '*' for any. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** An EncryptionConfiguration, checked as v1.36.4 does (apis/apiserver/validation). @throws ConfigFileError */
export function readEncryptionConfiguration(file: ConfigFile): Configured<readonly EncryptionRule[]> {
  return readConfigFile(file, { apiVersions: ['apiserver.config.k8s.io/v1'], kind: 'EncryptionConfiguration' }, (fields) => {
    const entries = fields.objects('resources');
    if (entries.length === 0) fields.report(required('resources', 'at least one resources is required'));
    const rules = entries.flatMap(readEntry);
    reportMasked(fields, rules);
    return rules;
  });
}

function readEntry(fields: ConfigFields): readonly EncryptionRule[] {
  const names = fields.texts('resources');
  const field = fields.pathOf('resources');
  if (names.length === 0) fields.report(required(field, `at least one ${field} is required`));
  const resources = names.map(parseResource);
  names.forEach((name, at) => {
    const wrong = resourceProblem(name);
    if (wrong !== undefined) fields.report(invalid(`${field}[${at}]`, name, wrong));
  });
  if (new Set(names).size < names.length) fields.report(invalid(field, names, 'the same resource cannot be specified multiple times'));
  if (overlap(resources)) {
    const why = "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked";
    fields.report(invalid(field, names, why));
  }
  const providers = fields.objects('providers').flatMap(readProvider);
  if (!fields.has('providers')) fields.report(required(fields.pathOf('providers'), `at least one ${fields.pathOf('providers')} is required`));
  return resources.map((resource) => ({ resource, providers }));
}

/** 'a.b.c' is resource a of group b.c; '*.' is everything in the core group. */
function parseResource(name: string): GroupResource {
  const dot = name.indexOf('.');
  return dot < 0 ? { group: '', resource: name } : { group: name.slice(dot + 1), resource: name.slice(0, dot) };
}

const withoutApi: ReadonlySet<string> = new Set(['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations']);

function resourceProblem(name: string): string | undefined {
  const { group, resource } = parseResource(name);
  if (name !== name.toLowerCase()) return 'resource name should not contain capital letters';
  if (name === '*') return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (withoutApi.has(name)) return 'resources which do not have REST API/s cannot be encrypted';
  if (group === 'events.k8s.io') return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption";
  if (group === '*' && resource !== '*') return 'encrypting the same resource across groups is not supported';
  return undefined;
}

const covers = (wide: GroupResource, other: GroupResource): boolean => wide.resource === '*' && (wide.group === '*' || wide.group === other.group);

const same = (a: GroupResource, b: GroupResource): boolean => a.group === b.group && a.resource === b.resource;

const overlap = (resources: readonly GroupResource[]): boolean => resources.some((one) => resources.some((other) => !same(one, other) && covers(one, other)));

/** A wildcard hides every later entry for the same group. */
function reportMasked(fields: ConfigFields, rules: readonly EncryptionRule[]): void {
  const nameOf = ({ group, resource }: GroupResource): string => (group === '' && resource !== '*' ? resource : `${resource}.${group}`);
  rules.forEach(({ resource }, at) => {
    const mask = rules.slice(0, at).find((earlier) => earlier.providers !== rules[at]?.providers && covers(earlier.resource, resource));
    if (mask !== undefined)
      fields.report(invalid('resources', omittedValue, `resource "${nameOf(resource)}" is masked by earlier rule "${nameOf(mask.resource)}"`));
  });
}

const kinds = ['kms', 'aesgcm', 'aescbc', 'secretbox', 'identity'] as const;

function readProvider(fields: ConfigFields): readonly EncryptionProvider[] {
  const found = kinds.filter((kind) => fields.has(kind));
  const [kind] = found;
  if (kind === undefined) {
    fields.report(invalid(fields.path, omittedValue, 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity'));
    return [];
  }
  if (found.length > 1) {
    fields.report(invalid(fields.path, omittedValue, 'more than one provider specified in a single element, should split into different list elements'));
    return [];
  }
  const settings = fields.object(kind);
  switch (kind) {
    case 'identity':
      return [identity];
    case 'aescbc':
      return settings === undefined ? [] : readKeys(settings).map(aesCbc);
    case 'aesgcm':
      return settings === undefined ? [] : readKeys(settings).map(aesGcm);
    case 'kms':
    case 'secretbox':
      settings?.ignoreRest();
      fields.report(invalid(fields.pathOf(kind), omittedValue, 'not supported by this server; use aesgcm or aescbc'));
      return [];
  }
}

const keySizes = [16, 24, 32];

function readKeys(fields: ConfigFields): readonly NamedKey[] {
  const keys = fields.objects('keys');
  if (keys.length === 0) fields.report(required(fields.pathOf('keys'), 'at least one keys is required'));
  return keys.flatMap((key) => {
    const [name, text] = [key.text('name'), key.text('secret')];
    if (name === '') key.report(required(key.pathOf('name'), 'name is a mandatory field for a key'));
    if (text === '') key.report(required(key.pathOf('secret'), 'secret is a mandatory field for a key'));
    const secret = Buffer.from(text, 'base64');
    const wrong = text === '' ? undefined : secretProblem(text, secret);
    if (wrong !== undefined) key.report(invalid(key.pathOf('secret'), 'REDACTED', wrong));
    return name === '' || text === '' || wrong !== undefined ? [] : [{ name, secret }];
  });
}

function secretProblem(text: string, secret: Uint8Array): string | undefined {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text.trim())) return 'secrets must be base64 encoded';
  if (keySizes.includes(secret.length)) return undefined;
  return `secret is not of the expected length, got ${secret.length}, expected one of [${keySizes.join(' ')}]`;
}
