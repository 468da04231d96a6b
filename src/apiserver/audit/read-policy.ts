import { invalid, notSupported, required } from '../../api/field-error.ts';
import { dnsSubdomainProblems } from '../../api/validation/names.ts';
import { type ConfigFields, type ConfigFile, type Configured, readConfigFile } from '../configuration/config-file.ts';
import { type GroupResources, type AuditLevel, levels, type AuditPolicy, type AuditPolicyRule, type AuditStage, stages } from './policy.ts';

/** @throws ConfigFileError */
export function readAuditPolicy(file: ConfigFile): Configured<AuditPolicy> {
  return readConfigFile(file, { apiVersions: ['audit.k8s.io/v1'], kind: 'Policy' }, (fields) => {
    const omitStages = readStages(fields);
    const omitManagedFields = fields.flag('omitManagedFields') ?? false;
    const rules = fields.objects('rules');
    if (rules.length === 0) fields.report(required('rules', 'a policy without rules would record nothing'));
    return { rules: rules.map((rule) => readRule(rule, { omitStages, omitManagedFields })) };
  });
}

/** Of the policy, for its rules; a stage is omitted if either says so. */
type Defaults = Pick<AuditPolicyRule, 'omitStages' | 'omitManagedFields'>;

function readRule(fields: ConfigFields, defaults: Defaults): AuditPolicyRule {
  const rule: AuditPolicyRule = {
    level: readLevel(fields),
    users: fields.texts('users'),
    userGroups: fields.texts('userGroups'),
    verbs: fields.texts('verbs'),
    namespaces: fields.texts('namespaces'),
    resources: fields.objects('resources').map(readResources),
    nonResourceUrls: readUrls(fields),
    omitStages: new Set([...defaults.omitStages, ...readStages(fields)]),
    omitManagedFields: fields.flag('omitManagedFields') ?? defaults.omitManagedFields,
  };
  if (rule.nonResourceUrls.length > 0 && (rule.resources.length > 0 || rule.namespaces.length > 0)) {
    fields.report(invalid(fields.pathOf('nonResourceURLs'), rule.nonResourceUrls, 'rules cannot apply to both regular resources and non-resource URLs'));
  }
  return rule;
}

function readLevel(fields: ConfigFields): AuditLevel {
  const text = fields.requiredText('level');
  const level = levels.find((known) => known === text);
  if (level === undefined && text !== '') fields.report(notSupported(fields.pathOf('level'), text, levels));
  return level ?? 'None';
}

function readStages(fields: ConfigFields): ReadonlySet<AuditStage> {
  const found = new Set<AuditStage>();
  fields.texts('omitStages').forEach((text, at) => {
    const stage = stages.find((known) => known === text);
    if (stage === undefined) fields.report(invalid(`${fields.pathOf('omitStages')}[${at}]`, text, `allowed stages are ${stages.join(',')}`));
    else found.add(stage);
  });
  return found;
}

function readUrls(fields: ConfigFields): readonly string[] {
  const urls = fields.texts('nonResourceURLs');
  urls.forEach((url, at) => {
    const field = `${fields.pathOf('nonResourceURLs')}[${at}]`;
    if (url === '*') return;
    if (!url.startsWith('/')) fields.report(invalid(field, url, "non-resource URL rules must begin with a '/' character"));
    if (url.slice(0, -1).includes('*')) fields.report(invalid(field, url, "non-resource URL wildcards '*' must be the final character of the rule"));
  });
  return urls;
}

function readResources(fields: ConfigFields): GroupResources {
  const [group, resources, resourceNames] = [fields.text('group'), fields.texts('resources'), fields.texts('resourceNames')];
  const wrong = group === '' || group === '*' ? [] : dnsSubdomainProblems(group);
  if (wrong.length > 0) fields.report(invalid(fields.pathOf('group'), group, wrong.join(',')));
  if (resourceNames.length > 0 && resources.length === 0) {
    fields.report(invalid(fields.pathOf('resourceNames'), resourceNames, 'using resourceNames requires at least one resource'));
  }
  return { group, resources, resourceNames };
}
