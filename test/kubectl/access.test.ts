/** RBAC with the real kubectl: two users in one kubeconfig, and the answers they get. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';

describe('two users with different rights', () => {
  let moor: MoorProcess;
  beforeAll(async () => {
    moor = await startMoor({ args: ['--store', 'memory'] });
    await kubectl('create', 'namespace', 'shop');
    await kubectl('create', 'serviceaccount', 'reader', '-n', 'shop');
    await kubectl('create', 'rolebinding', 'reader', '-n', 'shop', '--clusterrole=view', '--serviceaccount=shop:reader');
    const token = (await kubectl('create', 'token', 'reader', '-n', 'shop', '--duration=20m')).trim();
    await kubectl('config', 'set-credentials', 'reader', `--token=${token}`);
    const cluster = (await kubectl('config', 'view', '-o', 'jsonpath={.contexts[0].context.cluster}')).trim();
    await kubectl('config', 'set-context', 'reader', `--cluster=${cluster}`, '--user=reader', '--namespace=shop');
    admin = (await kubectl('config', 'current-context')).trim();
    // Aggregated ClusterRoles are filled a moment after the server is ready.
    await kubectl('wait', 'clusterrole/view', '--for=jsonpath={.rules[0].verbs[0]}=get', '--timeout=60s');
  });
  afterAll(() => moor.stop());

  let admin = '';
  const kubectl = async (...args: string[]) => {
    const result = await moor.kubectl(...args);
    expect(result, `kubectl ${args.join(' ')}`).toMatchObject({ code: 0 });
    return result.stdout;
  };

  test('auth whoami names each user', async () => {
    await kubectl('config', 'use-context', 'reader');
    expect(await kubectl('auth', 'whoami')).toMatch(/Username +system:serviceaccount:shop:reader\n/);
    expect(await kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.groups}')).toBe(
      '["system:serviceaccounts","system:serviceaccounts:shop","system:authenticated"]',
    );
    await kubectl('config', 'use-context', admin);
    expect(await kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.groups}')).toBe('["system:masters","system:authenticated"]');
  });

  test('the reader reads everything but Secrets in its namespace', async () => {
    expect(await moor.kubectl('get', 'pods', '--context=reader')).toMatchObject({ code: 0, stderr: 'No resources found in shop namespace.\n' });
    const who = 'User "system:serviceaccount:shop:reader"';
    expect(await moor.kubectl('get', 'secrets', '--context=reader')).toMatchObject({
      code: 1,
      stderr: `Error from server (Forbidden): secrets is forbidden: ${who} cannot list resource "secrets" in API group "" in the namespace "shop"\n`,
    });
    expect(await moor.kubectl('create', 'configmap', 'x', '--context=reader')).toMatchObject({
      code: 1,
      stderr: `error: failed to create configmap: configmaps is forbidden: ${who} cannot create resource "configmaps" in API group "" in the namespace "shop"\n`,
    });
    expect(await moor.kubectl('get', 'nodes', '--context=reader')).toMatchObject({
      code: 1,
      stderr: `Error from server (Forbidden): nodes is forbidden: ${who} cannot list resource "nodes" in API group "" at the cluster scope\n`,
    });
  });

  test('auth can-i, for one request and as a list', async () => {
    expect(await moor.kubectl('auth', 'can-i', 'delete', 'pods', '--context=reader')).toMatchObject({ code: 1, stdout: 'no\n' });
    expect(await kubectl('auth', 'can-i', '*', '*')).toBe('yes\n');
    const list = await kubectl('auth', 'can-i', '--list', '--context=reader');
    expect(list).toMatch(/^pods +\[\] +\[\] +\[get list watch\]$/m);
    expect(list).toMatch(/^selfsubjectreviews.authentication.k8s.io +\[\] +\[\] +\[create\]$/m);
    expect(list).not.toContain('secrets');
    expect(await moor.kubectl('auth', 'can-i', 'get', 'pods', '--as=jane')).toMatchObject({ code: 1, stdout: 'no\n' });
  });

  test('a user cannot grant rights that they do not have, and the roleRef of a binding is immutable', async () => {
    await kubectl('create', 'rolebinding', 'boss', '-n', 'shop', '--clusterrole=admin', '--user=adam');
    // The ClusterRole admin aggregates others, one of which is aggregated itself.
    const rights = () => moor.kubectl('create', 'role', 'nodes', '-n', 'shop', '--verb=get,list', '--resource=nodes', '--as=adam');
    await expect.poll(rights).toMatchObject({
      code: 1,
      stderr:
        'Error from server (Forbidden): roles.rbac.authorization.k8s.io "nodes" is forbidden: user "adam" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["nodes"], Verbs:["get" "list"]}\n',
    });
    expect(await moor.kubectl('create', 'rolebinding', 'more', '-n', 'shop', '--clusterrole=cluster-admin', '--user=adam', '--as=adam')).toMatchObject({
      code: 1,
    });
    await expect
      .poll(() => moor.kubectl('create', 'rolebinding', 'less', '-n', 'shop', '--clusterrole=view', '--user=joe', '--as=adam'))
      .toMatchObject({ code: 0 });
    expect(await moor.kubectl('patch', 'rolebinding', 'less', '-n', 'shop', '-p', '{"roleRef":{"name":"edit"}}')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot change roleRef') as string,
    });
  });

  test('a ClusterRole with an aggregationRule is filled at once', async () => {
    await kubectl('create', 'clusterrole', 'parts', '--aggregation-rule=part=yes');
    await kubectl('create', 'clusterrole', 'part', '--verb=get', '--resource=nodes');
    await kubectl('label', 'clusterrole', 'part', 'part=yes');
    await expect
      .poll(() => kubectl('get', 'clusterrole', 'parts', '-o', 'jsonpath={.rules}'))
      .toBe('[{"apiGroups":[""],"resources":["nodes"],"verbs":["get"]}]');
  });
});
