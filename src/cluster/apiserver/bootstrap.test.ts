import { expect, test, vi } from 'vitest';
import { startTestCluster } from '../../../test/client/test-cluster.ts';
import { serviceKind } from '../../api/kinds/core/service.ts';
import { createRealWorld } from '../../host/world.ts';
import { bootstrap } from './bootstrap.ts';

const kubernetes = { namespace: 'default', name: 'kubernetes' };

test('two servers start at once: one makes the Service between the look and the write of the other, which goes on', async () => {
  const { client } = await startTestCluster(createRealWorld({ logLevel: 'silent' }));
  await client.delete(serviceKind, kubernetes);
  let looked = 0;
  const get = client.get.bind(client);
  vi.spyOn(client, 'get').mockImplementation(async (kind, ref) => {
    const found = await get(kind, ref);
    if (kind.kind === 'Service' && looked++ === 0) await bootstrap(client, 6443);
    return found;
  });
  await bootstrap(client, 6444);
  expect(await client.get(serviceKind, kubernetes)).toMatchObject({ value: { spec: { clusterIP: '10.96.0.1', ports: [{ targetPort: 6443 }] } } });
});
