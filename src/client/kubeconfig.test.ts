import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { entryNameOf, isOfOneCluster, kubeconfig, renderKubeconfig } from './kubeconfig.ts';
import { KubeconfigError, mergeKubeconfig, withoutCluster } from './kubeconfig-merge.ts';

const config = kubeconfig({ server: 'https://127.0.0.1:6443', authority: 'CA', user: { type: 'certificate', certificate: 'CERT', key: 'KEY' } });

describe('kubeconfig', () => {
  test('is YAML that says how to reach the server, and as whom', () => {
    const text = renderKubeconfig(config);
    expect(text.startsWith('apiVersion: "v1"\n')).toBe(true);
    expect(parse(text)).toEqual({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'mooring', cluster: { 'certificate-authority-data': 'Q0E=', server: 'https://127.0.0.1:6443' } }],
      contexts: [{ name: 'mooring', context: { cluster: 'mooring', user: 'mooring' } }],
      'current-context': 'mooring',
      users: [{ name: 'mooring', user: { 'client-certificate-data': 'Q0VSVA==', 'client-key-data': 'S0VZ' } }],
    });
  });

  test('can carry a token instead', () => {
    const withToken = kubeconfig({ server: 'https://x', authority: 'CA', user: { type: 'token', token: 't: #"' } });
    expect(parse(renderKubeconfig(withToken))).toMatchObject({ users: [{ user: { token: 't: #"' } }] });
  });

  test('merging keeps what is there, replaces what is ours, and makes it current', () => {
    const existing = `# my clusters
apiVersion: v1
kind: Config
preferences: {colors: true}
current-context: work
clusters:
  # the one at work
  - name: work
    cluster: {server: "https://work"}
  - name: mooring
    cluster: {server: "https://old"}
contexts:
  - name: work
    context: {cluster: work, user: me}
users: []
`;
    const merged = mergeKubeconfig(existing, config);
    const value = parse(merged) as Record<string, unknown>;
    expect(value['clusters']).toEqual([{ name: 'work', cluster: { server: 'https://work' } }, ...config.clusters]);
    expect(value['contexts']).toEqual([{ name: 'work', context: { cluster: 'work', user: 'me' } }, ...config.contexts]);
    expect(value['users']).toEqual(config.users);
    expect(value['preferences']).toEqual({ colors: true });
    expect(value['current-context']).toBe('mooring');
    expect(merged).toContain('# my clusters');
    expect(merged).toContain('# the one at work');
    expect(mergeKubeconfig(merged, config)).toBe(merged);
  });

  test('two clusters in one file keep their entries, and one of them can be taken out again', () => {
    const shop = kubeconfig({ server: 'https://127.0.0.1:7443', authority: 'SHOP', name: entryNameOf('shop'), user: { type: 'token', token: 't' } });
    const existing = '# my clusters\ncurrent-context: work\nclusters:\n- name: work\n  cluster: {server: "https://work"}\n';
    const both = mergeKubeconfig(mergeKubeconfig(existing, config), shop);
    expect((parse(both) as typeof config).contexts.map(({ name }) => name)).toEqual(['mooring', 'mooring-shop']);
    const left = withoutCluster(both, 'U0hPUA==');
    expect(parse(left)).toMatchObject({ clusters: [{ name: 'work' }, { name: 'mooring' }], contexts: [{ name: 'mooring' }], users: [{ name: 'mooring' }] });
    expect(parse(left)).toMatchObject({ 'current-context': '' });
    expect(left).toContain('# my clusters');
    expect(withoutCluster(left, 'U0hPUA==')).toBe(left);
    expect([renderKubeconfig(shop), renderKubeconfig(config), both, existing, ''].map(isOfOneCluster)).toEqual([true, true, false, false, false]);
  });

  test.each(['', '{}', 'clusters:\n'])('merging into %j is writing it', (existing) => {
    expect(parse(mergeKubeconfig(existing, config))).toEqual(config);
  });

  test.each(['- a', 'kind: Pod', 'clusters: 7', '{a: ]'])('%j cannot be merged into', (existing) => {
    expect(() => mergeKubeconfig(existing, config)).toThrow(KubeconfigError);
  });
});
