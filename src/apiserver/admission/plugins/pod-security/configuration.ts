/** PodSecurityConfiguration: the defaults of namespaces without labels, and what is exempt. */
import { duplicate, invalid } from '../../../../api/field-error.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../../../api/validation/names.ts';
import type { ConfigFields } from '../../../configuration/config-file.ts';
import { type LevelVersion, levelProblem, parseLevel, parseVersion, type Policy, privileged, versionProblem } from './policy.ts';

export interface PodSecurityConfiguration {
  readonly defaults: Policy;
  readonly exemptions: Exemptions;
}

export interface Exemptions {
  readonly usernames: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
  readonly runtimeClasses: ReadonlySet<string>;
}

/** As without a configuration file. */
export const defaultPodSecurity: PodSecurityConfiguration = {
  defaults: { enforce: privileged, audit: privileged, warn: privileged },
  exemptions: { usernames: new Set(), namespaces: new Set(), runtimeClasses: new Set() },
};

/** The three versions have the same fields. */
export const podSecurityConfigurationType = {
  apiVersions: ['v1', 'v1beta1', 'v1alpha1'].map((version) => `pod-security.admission.config.k8s.io/${version}`),
  kind: 'PodSecurityConfiguration',
} as const;

/** Checked as v1.36.4 does (admission/api/validation). */
export function readPodSecurityConfiguration(fields: ConfigFields): PodSecurityConfiguration {
  const defaults = fields.object('defaults');
  const exemptions = fields.object('exemptions');
  return {
    defaults: { enforce: readDefault(defaults, 'enforce'), audit: readDefault(defaults, 'audit'), warn: readDefault(defaults, 'warn') },
    exemptions: {
      namespaces: readNames(exemptions, 'namespaces', dnsLabelProblems),
      runtimeClasses: readNames(exemptions, 'runtimeClasses', dnsSubdomainProblems),
      usernames: readNames(exemptions, 'usernames', (name) => (name === '' ? ['username must not be empty'] : [])),
    },
  };
}

function readDefault(fields: ConfigFields | undefined, mode: keyof Policy): LevelVersion {
  if (fields === undefined) return privileged;
  const levelText = fields.text(mode) || privileged.level;
  const versionText = fields.text(`${mode}-version`) || 'latest';
  const level = parseLevel(levelText);
  const version = parseVersion(versionText);
  if (level === undefined) fields.report(invalid(fields.pathOf(mode), levelText, levelProblem));
  if (version === undefined) fields.report(invalid(fields.pathOf(`${mode}-version`), versionText, versionProblem));
  return { level: level ?? 'restricted', version: version ?? 'latest' };
}

function readNames(fields: ConfigFields | undefined, list: keyof Exemptions, problems: (name: string) => readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  fields?.texts(list).forEach((name, at) => {
    const field = `${fields.pathOf(list)}[${at}]`;
    const found = problems(name);
    if (found.length > 0) fields.report(invalid(field, name, found.join(', ')));
    else if (names.has(name)) fields.report(duplicate(field, name));
    else names.add(name);
  });
  return names;
}
