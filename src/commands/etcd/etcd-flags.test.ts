import { expect, test } from 'vitest';
import { parseFlags } from '../command.ts';
import { clusterOptions, upCommand } from '../up.ts';

const etcd = (...args: string[]) => clusterOptions(parseFlags(upCommand, args)).etcd;

test('the servers, and the prefix', () => {
  expect(etcd()).toBeUndefined();
  expect(etcd('--store', 'etcd', '--etcd-servers', 'http://a:2379,https://b')).toEqual({
    servers: ['http://a:2379', 'https://b'],
    prefix: '/mooring',
    tls: {},
  });
  expect(etcd('--store', 'etcd', '--etcd-servers', 'http://a', '--etcd-prefix', '/one/two')).toMatchObject({ prefix: '/one/two' });
});

test.each([
  [['--etcd-servers', 'http://a'], '--etcd-servers needs --store etcd'],
  [['--etcd-prefix', '/other'], '--etcd-prefix needs --store etcd'],
  [['--store', 'etcd'], '--etcd-servers is missing: the URLs'],
  [['--store', 'etcd', '--etcd-servers', 'a:2379'], 'is no URL of a server'],
  [['--store', 'etcd', '--etcd-servers', 'http://a/v3'], 'is no URL of a server'],
  [['--store', 'etcd', '--etcd-servers', 'https://a', '--etcd-certfile', '/dev/null'], 'belong together'],
  [['--store', 'etcd', '--etcd-servers', 'http://a', '--etcd-cafile', '/dev/null'], 'is not encrypted'],
  [['--store', 'etcd', '--etcd-servers', 'https://a', '--etcd-cafile', '/no/such/file'], '--etcd-cafile cannot be read'],
  [['--store', 'etcd', '--etcd-servers', 'http://a', '--etcd-prefix', 'mooring'], '--etcd-prefix has to be like /mooring'],
  [['--store', 'etcd', '--etcd-servers', 'http://a', '--ephemeral'], 'the objects in etcd would stay'],
])('%j is refused', (args, message) => expect(() => etcd(...args)).toThrow(message));
