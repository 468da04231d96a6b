import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import { containerSpec } from '../../../test/sandbox/sandboxes.ts';
import { imageUserViolation, withImage } from './container-image.ts';
import { withHostProgram } from './host-programs.ts';
import type { ReadyImage } from './image-store.ts';
import { findUser } from './users.ts';

const pod = (securityContext = {}): Pod =>
  ({ metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [], securityContext }, status: {} }) as unknown as Pod;
const lists = {
  passwd: 'root:x:0:0::/root:/bin/sh\nbroken\napp:x:1000:1001:App:/home/app:/bin/sh\n',
  group: 'root:x:0:\napp:x:1001:\nextra:x:2000:other,app\n',
};
const image = (config: Partial<ReadyImage['config']> = {}): ReadyImage => ({
  digest: 'sha256:1',
  config: {
    platform: { os: 'linux', architecture: 'amd64' },
    entrypoint: ['entry'],
    command: ['usual'],
    env: ['A=image', 'B=1=2'],
    user: '',
    workingDir: '/w',
    stopSignal: '',
    diffIds: [],
    ...config,
  },
  layers: ['/layer'],
  size: 1,
  ...lists,
});
const spec = (over: Parameters<typeof containerSpec>[1] = {}) => containerSpec('u', { command: [], args: [], ...over });

describe('a container with an image', () => {
  test.each([
    [{}, ['entry', 'usual']],
    [{ args: ['own'] }, ['entry', 'own']],
    [{ command: ['c'] }, ['c']],
    [{ command: ['c'], args: ['own'] }, ['c', 'own']],
  ])('%j runs %j', (over, command) => {
    expect(withImage(spec(over), image(), pod())).toMatchObject({ command, args: [], imageLayers: ['/layer'] });
  });

  test('has variables and working directory of the image, unless it has its own', () => {
    const env = [{ name: 'A', value: 'own' }];
    expect(withImage(spec({ env }), image(), pod())).toMatchObject({
      workingDir: '/w',
      env: [{ name: 'HOME', value: '/root' }, { name: 'A', value: 'image' }, { name: 'B', value: '1=2' }, ...env],
    });
    expect(withImage(spec({ workingDir: '/own' }), image(), pod())).toMatchObject({ workingDir: '/own' });
  });

  test.each([
    ['', {}, { uid: 0, gid: 0, groups: [7] }],
    ['app', {}, { uid: 1000, gid: 1001, groups: [7, 2000] }],
    ['1000', {}, { uid: 1000, gid: 1001, groups: [7, 2000] }],
    ['app:root', {}, { uid: 1000, gid: 0, groups: [7, 2000] }],
    ['4:5', {}, { uid: 4, gid: 5, groups: [7] }],
    ['app', { uid: 4 }, { uid: 4, gid: 0, groups: [7] }],
    ['app', { gid: 9 }, { uid: 1000, gid: 9, groups: [7, 2000] }],
  ])('of user %j, asked for %j, runs as %j', (user, own, expected) => {
    expect(withImage(spec({ user: { uid: undefined, gid: undefined, groups: [7], ...own } }), image({ user }), pod())).toMatchObject({ user: expected });
  });

  test('has no groups of the image with the policy Strict', () => {
    const strict = pod({ supplementalGroupsPolicy: 'Strict' });
    expect(withImage(spec({ user: { uid: undefined, gid: undefined, groups: [] } }), image({ user: 'app' }), strict)).toMatchObject({ user: { groups: [] } });
  });

  test.each([
    ['SIGQUIT', 3],
    ['quit', 3],
    ['37', 37],
    ['nonsense', 15],
  ])('whose stop signal is %s gets %i', (stopSignal, number) => {
    expect(withImage(spec(), image({ stopSignal }), pod())).toMatchObject({ stopSignal: number });
  });

  test('without a command, or of an unknown user, cannot be created', () => {
    expect(withImage(spec(), image({ entrypoint: [], command: [] }), pod())).toEqual({ error: 'failed to generate spec: no command specified' });
    expect(withImage(spec(), image({ user: 'nouser' }), pod())).toMatchObject({
      error: expect.stringContaining('unable to find user nouser: no matching entries'),
    });
    expect(findUser('app:nogroup', lists)).toEqual({ error: 'unable to find group nogroup: no matching entries in group file' });
  });

  test.each(['4294967295', '4294967296', '2147483648:0', '5:4294967295', 'app:4294967295', 'minus', 'odd', 'member'])(
    'of user %j, whose ids Linux would take for others, cannot be created',
    (user) => {
      const odd = 'minus:x:-1:0::/:\nodd:x:1:?::/:\nmember:x:9:9::/:\n';
      const found = { ...image({ user }), passwd: lists.passwd + odd, group: `${lists.group}far:x:4294967295:member\n` };
      expect(withImage(spec(), found, pod({ runAsNonRoot: true }))).toMatchObject({
        error: expect.stringContaining('uids and gids must be in range 0-2147483647'),
      });
    },
  );

  test('that must not run as root is judged by the user of its image', () => {
    const [nonRoot, container] = [pod({ runAsNonRoot: true }), { name: 'c', resources: {} }];
    expect(imageUserViolation(nonRoot, container, '')).toContain('image will run as root');
    expect(imageUserViolation(nonRoot, container, '0:5')).toContain('image will run as root');
    expect(imageUserViolation(nonRoot, container, 'app')).toContain('image has non-numeric user (app), cannot verify user is non-root');
    expect(imageUserViolation(nonRoot, container, '1000')).toBeUndefined();
    expect(imageUserViolation(pod({ runAsNonRoot: true, runAsUser: 5 }), container, '')).toBeUndefined();
    expect(imageUserViolation(pod(), container, '')).toBeUndefined();
  });
});

describe('a container whose image is only a name', () => {
  test.each([
    [{ image: 'registry.k8s.io/pause:3.10' }, ['sleep', 'infinity']],
    [{ image: 'busybox' }, ['sh']],
    [{ image: 'debian@sha256:12' }, ['bash']],
    [{ image: 'any', args: ['ls', '-l'] }, ['ls', '-l']],
    [{ image: 'any', command: ['a'], args: ['b'] }, ['a', 'b']],
  ])('%j runs %j', (over, command) => {
    expect(withHostProgram(spec(over))).toMatchObject({ command, args: [] });
  });

  test.each(['postgres:18', 'localhost:5000/app', 'constructor'])('%s without a command is refused', (name) => {
    expect(withHostProgram(spec({ image: name }))).toMatchObject({
      error: expect.stringMatching(/^the program of image ".*" is not known: .*moor load FILE$/),
    });
  });
});
