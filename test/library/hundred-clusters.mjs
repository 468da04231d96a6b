// A hundred clusters in one process, each with a claim; what they keep open is printed. The process has to end by itself.
import { readdirSync } from 'node:fs';
import { startTestCluster } from 'mooring/testing';

const kept = () => ({ resources: process.getActiveResourcesInfo().toSorted(), listeners: process.eventNames().length, files: readdirSync(process.env.TMPDIR) });
// What loading left is closed by the event loop.
while (process.getActiveResourcesInfo().includes('CloseReq')) await new Promise((resolve) => setImmediate(resolve));
const before = kept();
const clusters = [];
for (let i = 0; i < 100; i++) clusters.push(await startTestCluster({ nodes: { count: 1 }, seed: i + 1 }));
await Promise.all(clusters.map((cluster, i) => cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `of-${i}` } })));
const names = await Promise.all(clusters.map(async (cluster) => (await cluster.list('cm')).map(({ metadata }) => metadata.name).join(' ')));
const running = kept();
for (const cluster of clusters.slice(0, 50)) await cluster.stop();
process.stdout.write(JSON.stringify({ before, running, names }));
