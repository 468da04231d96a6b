import { expect, test } from 'vitest';
import { ConfigFileError } from '../configuration/config-file.ts';
import { readAdmissionConfiguration } from './admission-configuration.ts';
import { defaultPodSecurity } from './plugins/pod-security/configuration.ts';

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n';
const podSecurityHead = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' };

const read = (text: string, files: Readonly<Record<string, string>> = {}) =>
  readAdmissionConfiguration({ name: 'admission.yaml', bytes: Buffer.from(text) }, (path) =>
    Promise.resolve({ name: path, bytes: Buffer.from(files[path] ?? '') }),
  );

const withPlugin = (plugin: object, files?: Readonly<Record<string, string>>) => read(`${head}plugins: ${JSON.stringify([plugin])}`, files);
const withConfiguration = (configuration: object) => withPlugin({ name: 'PodSecurity', configuration: { ...podSecurityHead, ...configuration } });

/** What is wrong. */
async function problems(reading: Promise<unknown>): Promise<string> {
  const error: unknown = await reading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof ConfigFileError ? error.message : `no ConfigFileError: ${String(error)}`;
}

test('without plugins, or with an empty configuration, everything is as without a file', async () => {
  expect((await read(head)).value).toEqual({ podSecurity: undefined });
  expect((await withConfiguration({})).value.podSecurity).toEqual(defaultPodSecurity);
});

test('defaults and exemptions are read, inline and from another file, in every version', async () => {
  const settings = {
    defaults: { enforce: 'baseline', 'enforce-version': 'v1.30', warn: 'restricted' },
    exemptions: { usernames: ['ann'], namespaces: ['kube-system'], runtimeClasses: ['kata'] },
  };
  const expected = {
    defaults: {
      enforce: { level: 'baseline', version: 30 },
      audit: { level: 'privileged', version: 'latest' },
      warn: { level: 'restricted', version: 'latest' },
    },
    exemptions: { usernames: new Set(['ann']), namespaces: new Set(['kube-system']), runtimeClasses: new Set(['kata']) },
  };
  expect((await withConfiguration(settings)).value.podSecurity).toEqual(expected);
  const older = { ...podSecurityHead, apiVersion: 'pod-security.admission.config.k8s.io/v1beta1', ...settings };
  expect((await withPlugin({ name: 'PodSecurity', path: 'psa.yaml' }, { 'psa.yaml': JSON.stringify(older) })).value.podSecurity).toEqual(expected);
});

test('every value is checked', async () => {
  const wrong = {
    defaults: { enforce: 'strict', 'audit-version': '1.30' },
    exemptions: { usernames: ['', 'ann', 'ann'], namespaces: ['No'], runtimeClasses: ['a..b'] },
  };
  const text = await problems(withConfiguration(wrong));
  for (const part of [
    'plugins[0].configuration.defaults.enforce: Invalid value: "strict": must be one of privileged, baseline, restricted',
    'defaults.audit-version: Invalid value: "1.30": must be "latest" or "v1.x"',
    'exemptions.usernames[0]: Invalid value: "": username must not be empty',
    'exemptions.usernames[2]: Duplicate value: "ann"',
    'exemptions.namespaces[0]: Invalid value: "No"',
    'exemptions.runtimeClasses[0]: Invalid value: "a..b"',
  ])
    expect(text).toContain(part);
});

test('what has no effect here is refused by name', async () => {
  expect(await problems(withPlugin({ name: 'EventRateLimit', path: 'x' }))).toBe(
    'admission.yaml: plugins[0].name: Invalid value: "EventRateLimit": this server has settings of the plugin PodSecurity alone',
  );
  expect(await problems(withPlugin({ name: 'PodSecurity' }))).toContain('plugins[0].configuration: Required value');
  expect(await problems(withPlugin({ name: 'PodSecurity', path: 'x', configuration: podSecurityHead }))).toContain('plugins[0].path: Invalid value: "x"');
  expect(await problems(withPlugin({ name: 'PodSecurity', configuration: { apiVersion: 'v1', kind: 'Pod' } }))).toContain(
    'plugins[0].configuration: wants "apiVersion: pod-security.admission.config.k8s.io/v1" and "kind: PodSecurityConfiguration", and holds a Pod of v1',
  );
  const twice = { name: 'PodSecurity', configuration: podSecurityHead };
  expect(await problems(read(`${head}plugins: ${JSON.stringify([twice, twice])}`))).toContain('plugins: Duplicate value: "PodSecurity"');
  expect((await withConfiguration({ defaults: { enforced: 'baseline' } })).warnings).toEqual(['unknown field "plugins[0].configuration.defaults.enforced"']);
});
