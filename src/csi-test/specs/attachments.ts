import type { Bench } from '../bench.ts';
import { clauses } from '../clauses.ts';
import { expectCode, expectOk, expectThat } from '../expect.ts';
import { spec, unknownId } from './spec.ts';

const needs = ['controller:CREATE_DELETE_VOLUME', 'controller:PUBLISH_UNPUBLISH_VOLUME'] as const;

const publishedNodes = async (bench: Bench, volumeId: string): Promise<readonly string[]> => {
  const { entries } = await bench.driver.controller.listVolumes({});
  return entries.find(({ volume }) => volume?.volumeId === volumeId)?.status?.publishedNodeIds ?? [];
};

export const attachmentSpecs = [
  spec('ControllerPublishVolume/no volume id', { title: 'a request without volume_id is refused', clause: clauses.missingField, needs }, async (bench) => {
    const volume = await bench.createVolume();
    await expectCode('ControllerPublishVolume without volume_id', () => bench.attach({ ...volume, id: '' }), ['InvalidArgument']);
  }),
  spec('ControllerPublishVolume/no node id', { title: 'a request without node_id is refused', clause: clauses.missingField, needs }, async (bench) => {
    const volume = await bench.createVolume();
    await expectCode('ControllerPublishVolume without node_id', () => bench.attach(volume, { node: { ...bench.node, id: '' } }), ['InvalidArgument']);
  }),
  spec(
    'ControllerPublishVolume/no capability',
    { title: 'a request without volume_capability is refused', clause: clauses.missingField, needs },
    async (bench) => {
      const { id } = await bench.createVolume();
      const call = () =>
        bench.driver.controller.controllerPublishVolume({
          volumeId: id,
          nodeId: bench.node.id,
          secrets: { ...bench.secrets('ControllerPublishVolumeSecret') },
        });
      await expectCode('ControllerPublishVolume without volume_capability', call, ['InvalidArgument']);
    },
  ),
  spec(
    'ControllerPublishVolume/unknown volume',
    { title: 'a volume that does not exist is not found', clause: clauses.attachNoVolume, needs },
    async (bench) => {
      const volume = await bench.createVolume();
      await expectCode('ControllerPublishVolume of an unknown volume', () => bench.attach({ ...volume, id: unknownId }), ['NotFound']);
    },
  ),
  spec('ControllerPublishVolume/unknown node', { title: 'a node that does not exist is not found', clause: clauses.attachNoNode, needs }, async (bench) => {
    const volume = await bench.createVolume();
    await expectCode('ControllerPublishVolume at an unknown node', () => bench.attach(volume, { node: { ...bench.node, id: unknownId } }), ['NotFound']);
  }),
  spec('ControllerUnpublishVolume/no volume id', { title: 'a request without volume_id is refused', clause: clauses.missingField, needs }, (bench) =>
    expectCode('ControllerUnpublishVolume without volume_id', () => bench.detach({ id: '' }), ['InvalidArgument']),
  ),
  spec('ControllerUnpublishVolume/unknown volume', { title: 'a volume that does not exist is detached', clause: clauses.detachGone, needs }, (bench) =>
    expectOk('ControllerUnpublishVolume of an unknown volume', () => bench.detach({ id: unknownId })),
  ),
  spec(
    'ControllerUnpublishVolume/all nodes',
    { title: 'without node_id, a volume is detached from all nodes', clause: clauses.detachAll, needs },
    async (bench) => {
      const volume = await bench.createVolume();
      await bench.attach(volume);
      await expectOk('ControllerUnpublishVolume without node_id', () => bench.detach(volume, { id: '' }));
      if (!bench.has('controller:LIST_VOLUMES_PUBLISHED_NODES')) return;
      const left = await publishedNodes(bench, volume.id);
      expectThat(left.length === 0, `after ControllerUnpublishVolume without node_id, ListVolumes still names ${left.join(', ')}`);
    },
  ),
  spec(
    'ListVolumes/published nodes',
    {
      title: 'the list names the nodes of a volume',
      clause: clauses.listPublished,
      needs: [...needs, 'controller:LIST_VOLUMES', 'controller:LIST_VOLUMES_PUBLISHED_NODES'],
    },
    async (bench) => {
      const volume = await bench.createVolume();
      await bench.attach(volume);
      const attached = await publishedNodes(bench, volume.id);
      expectThat(attached.includes(bench.node.id), `the volume is published at ${bench.node.id}, ListVolumes names ${attached.join(', ') || 'no node'}`);
      await bench.detach(volume);
      const detached = await publishedNodes(bench, volume.id);
      expectThat(!detached.includes(bench.node.id), `the volume is not published any more at ${bench.node.id}, which ListVolumes still names`);
    },
  ),
];
