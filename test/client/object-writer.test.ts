import { expect, test } from 'vitest';
import { startTestCluster } from './test-cluster.ts';
import type { Node } from '../../src/api/generated/types.ts';
import { untypedKind } from '../../src/api/kind.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { ObjectWriter } from '../../src/client/controller/object-writer.ts';

async function start(world: SimulatedWorld) {
  const { client } = await startTestCluster(world);
  const made = await client.create(nodeKind, { metadata: { name: 'n1' } });
  if (!made.ok) throw made.error;
  const read = async () => {
    const found = await client.get(nodeKind, { name: 'n1' });
    return found.ok ? found.value : undefined;
  };
  return { node: made.value, read, writer: new ObjectWriter(client, [untypedKind(nodeKind)]) };
}

const labelled = (node: Node, value: string): Node => ({ ...node, metadata: { ...node.metadata, labels: { value } } });
const withPhase = (node: Node, phase: string): Node => ({ ...node, status: { ...node.status, phase } });

test('one list may write an object twice', () =>
  simulate(1, async (world) => {
    const { node, read, writer } = await start(world);
    const spec = labelled(node, 'a');
    const status = withPhase(spec, 'Running');
    expect(await writer.perform({ do: 'update', object: spec, from: node })).toBe('done');
    expect(await writer.perform({ do: 'updateStatus', object: status, from: spec })).toBe('done');
    expect(await read()).toMatchObject({ metadata: { labels: { value: 'a' } }, status: { phase: 'Running' } });
  }));

test('another list that saw the same version is told of the conflict', () =>
  simulate(1, async (world) => {
    const { node, read, writer } = await start(world);
    expect(await writer.perform({ do: 'update', object: labelled(node, 'a'), from: node })).toBe('done');
    expect(await writer.perform({ do: 'update', object: labelled(node, 'b'), from: node })).toBe('conflict');
    expect(await writer.perform({ do: 'updateStatus', object: withPhase(node, 'Running'), from: node })).toBe('conflict');
    expect(await read()).toMatchObject({ metadata: { labels: { value: 'a' } } });
  }));

test('another writer between two writes of a list is a conflict as well', () =>
  simulate(1, async (world) => {
    const { node, read, writer } = await start(world);
    const spec = labelled(node, 'a');
    await writer.perform({ do: 'update', object: spec, from: node });
    const now = await read();
    if (now === undefined) throw new Error('the node is gone');
    await writer.perform({ do: 'update', object: labelled(now, 'theirs'), from: now });
    expect(await writer.perform({ do: 'updateStatus', object: withPhase(spec, 'Running'), from: spec })).toBe('conflict');
  }));

test('only the object of the uid is deleted; one that is gone already is no failure', () =>
  simulate(1, async (world) => {
    const { node, read, writer } = await start(world);
    expect(await writer.perform({ do: 'delete', object: { ...node, metadata: { ...node.metadata, uid: 'another' } } })).toBe('conflict');
    expect(await read()).toBeDefined();
    expect(await writer.perform({ do: 'delete', object: node })).toBe('done');
    expect(await writer.perform({ do: 'delete', object: node })).toBe('done');
    expect(await read()).toBeUndefined();
  }));
