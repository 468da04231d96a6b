import { expect, test } from 'vitest';
import { ServerList } from './server-list.ts';

const twoServers = () => new ServerList(['https://a:6443', 'https://b:6443']);

test('a server that is left is followed by the next, and its watches end', () => {
  const servers = twoServers();
  const ended: string[] = [];
  servers.onLeft(() => ended.push('watch'));
  const cancel = servers.onLeft(() => ended.push('closed'));
  cancel();
  const [first] = [servers.current];
  servers.leave(first);
  expect([servers.current.host, ended]).toEqual(['b:6443', ['watch']]);
  // A second failure of a server that was left already says nothing about the next.
  servers.leave(first);
  expect(servers.current.host).toBe('b:6443');
});

test('one server that refuses everything is left, one that refuses now and then is not', () => {
  const servers = twoServers();
  const ask = (...couldServe: boolean[]): string => {
    for (const each of couldServe) servers.answered(servers.current, each);
    return servers.current.host;
  };
  expect(ask(false, false, false, false, true, false)).toBe('a:6443');
  expect(ask(false, false, false, false)).toBe('b:6443');
});

test('the only server is never left', () => {
  const servers = new ServerList(['https://a:6443']);
  const ended: string[] = [];
  servers.onLeft(() => ended.push('watch'));
  servers.leave(servers.current);
  expect([servers.current.host, ended]).toEqual(['a:6443', []]);
});
