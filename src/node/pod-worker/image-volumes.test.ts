import { expect, test } from 'vitest';
import type { Container, Pod } from '../../api/generated/types.ts';
import type { ImageEvent, ImageManager } from '../images/image-manager.ts';
import { ensureImageVolumes, idsOf, withImageVolumes } from './image-volumes.ts';

const image = (reference: string) => ({ image: { reference, pullPolicy: 'Always' } });
const pod = {
  metadata: { uid: 'u' },
  spec: {
    volumes: [
      { name: 'data', ...image('data:1') },
      { name: 'unused', ...image('unused:1') },
      { name: 'scratch', emptyDir: {} },
    ],
  },
} as unknown as Pod;
const mountsOf = (...names: string[]) => names.map((name) => ({ name, mountPath: `/${name}` }));
const container = { name: 'data', volumeMounts: mountsOf('data', 'scratch') } as Container;

const ensure = async (answer: Awaited<ReturnType<ImageManager['ensure']>>) => {
  const [asked, events]: [unknown[], ImageEvent[]] = [[], []];
  const images: ImageManager = {
    ensure: async (_, { name, image: reference, imagePullPolicy }) => {
      asked.push([name, reference, imagePullPolicy]);
      return answer;
    },
  };
  const ensured = await ensureImageVolumes({ pod, container, images, secrets: [], record: (event) => events.push(event) });
  return { ensured, asked, events };
};

const event: ImageEvent = { type: 'Normal', reason: 'Pulled', message: 'it is there' };
const complete = () => ({ reason: 'CreateContainerError', error: 'not asked for' });

test('the images of the volumes that a container mounts are ensured by their own policy, and told as events of the pod', async () => {
  const volume = { imageId: 'data@sha256:1', layers: ['/b', '/a'] };
  const { ensured, asked, events } = await ensure({ ok: true, image: { complete, volume }, events: [event] });
  expect([asked, events]).toEqual([[['volumes/data', 'data:1', 'Always']], [event]]);
  if (ensured.ok !== true) throw new Error('not ensured');
  expect(idsOf(ensured.volumes)).toEqual({ imageVolumes: ['data@sha256:1'] });
  const mounts = ['data', 'scratch'].map((each) => {
    return { volume: each, hostPath: '', containerPath: `/${each}`, readOnly: true, recursiveReadOnly: false, propagation: 'private' } as const;
  });
  expect(withImageVolumes(mounts, ensured.volumes).map(({ imageLayers }) => imageLayers)).toEqual([['/b', '/a'], undefined]);
});

test('a pull that fails or is under way is that of the container', async () => {
  const failure = { ok: false, reason: 'ErrImagePull', message: 'denied', events: [] } as const;
  expect((await ensure(failure)).ensured).toEqual(failure);
  expect((await ensure({ ok: 'pending', done: Promise.resolve(), events: [event] })).ensured).toMatchObject({ ok: 'pending' });
});

test('programs of the node are no content of a volume', async () => {
  const message = 'volume "data": image "data:1" is not on this node: load it with "moor load", or pull images with --images=registry';
  expect((await ensure({ ok: true, image: { complete }, events: [] })).ensured).toMatchObject({ ok: false, reason: 'CreateContainerError', message });
});
