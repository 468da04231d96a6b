import { describe, expect, test } from 'vitest';
import type { RequestInfo } from '../../api/request-info.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { actingUser } from './impersonation.ts';

const admin = { name: 'admin', groups: [] };

function recording(allows: (info: Extract<RequestInfo, { type: 'resource' }>) => boolean = () => true) {
  const asked: string[] = [];
  const authorizer: Authorizer = {
    authorize(_, info) {
      if (info.type === 'path') throw new Error('no path is impersonated');
      const { verb, group, resource, subresource, namespace, name } = info;
      asked.push(`${verb} ${group}/${resource}${subresource && `/${subresource}`} ${namespace}/${name}`);
      return allows(info) ? { allowed: true } : { allowed: false, reason: '' };
    },
  };
  return { asked, authorizer };
}

describe('user impersonation', () => {
  test('asks for the user, each group, each extra value and the uid', async () => {
    const { asked, authorizer } = recording();
    const headers = [
      ['impersonate-user', 'jane'],
      ['impersonate-group', 'ops, night'],
      ['impersonate-group', 'dev'],
      ['impersonate-extra-example.com%2fscopes', 'a'],
      ['impersonate-uid', '7'],
    ] as const;
    expect(await actingUser(admin, headers, authorizer)).toEqual({
      name: 'jane',
      uid: '7',
      groups: ['ops, night', 'dev', 'system:authenticated'],
      extra: { 'example.com/scopes': ['a'] },
    });
    expect(asked).toEqual([
      'impersonate /users /jane',
      'impersonate /groups /ops, night',
      'impersonate /groups /dev',
      'impersonate authentication.k8s.io/userextras/example.com/scopes /a',
      'impersonate authentication.k8s.io/uids /7',
    ]);
  });

  test.each([
    ['a service account has its groups', 'system:serviceaccount:a:robot', ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated']],
    ['the anonymous user is not authenticated', 'system:anonymous', ['system:unauthenticated']],
  ])('%s', async (_, name, groups) => {
    const { authorizer } = recording();
    expect(await actingUser(admin, [['impersonate-user', name]], authorizer)).toEqual({ name, groups });
  });

  test('a key of extra is a key, whatever it is called', async () => {
    const { asked, authorizer } = recording();
    const headers = [
      ['impersonate-user', 'jane'],
      ['impersonate-extra-__proto__', 'x'],
      ['impersonate-extra-constructor', 'y'],
    ] as const;
    const { extra } = await actingUser(admin, headers, authorizer);
    expect(Object.entries(extra ?? {})).toEqual([
      ['__proto__', ['x']],
      ['constructor', ['y']],
    ]);
    expect(asked).toHaveLength(3);
  });

  test('is refused as a whole if any of it is', async () => {
    const { authorizer } = recording(({ resource }) => resource !== 'groups');
    const headers = [
      ['impersonate-user', 'jane'],
      ['impersonate-group', 'system:masters'],
    ] as const;
    await expect(actingUser(admin, headers, authorizer)).rejects.toMatchObject({
      code: 403,
      message: 'groups "system:masters" is forbidden: User "admin" cannot impersonate resource "groups" in API group "" at the cluster scope',
    });
  });
});
