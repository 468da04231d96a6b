/** AdmissionConfiguration, the file of --admission-control-config-file: the settings of admission plugins. */
import { duplicate, invalid, required } from '../../api/field-error.ts';
import { type ConfigFields, type ConfigFile, type Configured, readConfigFile, typeProblem } from '../configuration/config-file.ts';
import { type PodSecurityConfiguration, podSecurityConfigurationType, readPodSecurityConfiguration } from './plugins/pod-security/configuration.ts';

export interface AdmissionConfiguration {
  /** Undefined: the file has none. */
  readonly podSecurity: PodSecurityConfiguration | undefined;
}

type PluginEntry = { readonly type: 'read'; readonly value: PodSecurityConfiguration } | { readonly type: 'file'; readonly path: string };

/** Only PodSecurity has settings here: other names are refused. @throws ConfigFileError, and what `read` throws */
export async function readAdmissionConfiguration(file: ConfigFile, read: (path: string) => Promise<ConfigFile>): Promise<Configured<AdmissionConfiguration>> {
  const type = { apiVersions: ['apiserver.config.k8s.io/v1', 'apiserver.config.k8s.io/v1alpha1'], kind: 'AdmissionConfiguration' };
  const { value: entries, warnings } = readConfigFile(file, type, (fields) => {
    const found = fields.objects('plugins').flatMap(readEntry);
    if (found.length > 1) fields.report(duplicate('plugins', 'PodSecurity'));
    return found;
  });
  const entry = entries[0];
  if (entry?.type !== 'file') return { value: { podSecurity: entry?.value }, warnings };
  const other = readConfigFile(await read(entry.path), podSecurityConfigurationType, readPodSecurityConfiguration);
  return { value: { podSecurity: other.value }, warnings: [...warnings, ...other.warnings] };
}

function readEntry(fields: ConfigFields): readonly PluginEntry[] {
  const name = fields.requiredText('name');
  const path = fields.text('path');
  const configuration = fields.object('configuration');
  if (name !== 'PodSecurity') {
    configuration?.ignoreRest();
    if (name !== '') fields.report(invalid(fields.pathOf('name'), name, 'this server has settings of the plugin PodSecurity alone'));
    return [];
  }
  if (configuration === undefined) {
    if (path === '') fields.report(required(fields.pathOf('configuration'), 'either configuration or path is needed'));
    return path === '' ? [] : [{ type: 'file', path }];
  }
  if (path !== '') fields.report(invalid(fields.pathOf('path'), path, 'must be empty if configuration is set'));
  const wrong = typeProblem(configuration, podSecurityConfigurationType);
  if (wrong === undefined) return [{ type: 'read', value: readPodSecurityConfiguration(configuration) }];
  configuration.ignoreRest();
  configuration.reportProblem(wrong);
  return [];
}
