// Peers: csi-sanity, hostpathplugin
/** csi-sanity on csi-driver-host-path: the two peers work here, so what one of them says about Mooring counts. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { startHostPath } from './host-path.ts';
import { runPeer } from './peer-process.ts';

test('csi-sanity finds nothing in csi-driver-host-path', async () => {
  await using driver = await startHostPath({ nodeId: 'n1' });
  const at = (name: string) => path.join(driver.directory, name);
  const { code, output } = runPeer(
    'csi-sanity',
    '--csi.endpoint',
    driver.socket,
    '--csi.mountdir',
    at('mount'),
    '--csi.stagingdir',
    at('staging'),
    '--ginkgo.no-color',
  );
  expect(output).toMatch(/Ran \d\d of \d+ Specs/);
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(driver.volumes()).toEqual([]);
});
