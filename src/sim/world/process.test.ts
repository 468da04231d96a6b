import { expect, test } from 'vitest';
import type { StreamSink, Transport } from '../../client/transport.ts';
import { SimulatedProcess } from './process.ts';
import { simulate } from './world.ts';

test('a stream keeps its order when its process pauses and resumes', async () => {
  for (let seed = 0; seed < 20; seed++) {
    await simulate(seed, async (world) => {
      const sinks: StreamSink[] = [];
      const server: Transport = {
        send: () => Promise.reject(new Error('the test sends no requests')),
        watch: (_, sink) => {
          sinks.push(sink);
          return { close: () => undefined };
        },
      };
      const process = new SimulatedProcess(world, 'p');
      const heard: string[] = [];
      const events: StreamSink['events'] = (batch) => heard.push(...batch.map(({ object }) => object.metadata.name ?? ''));
      process.transport(server).watch({ info: { type: 'path', verb: 'get', path: '/' }, query: new URLSearchParams() }, { events, end: () => undefined });
      const tell = (name: string) => sinks[0]?.events([{ type: 'ADDED', object: { apiVersion: 'v1', kind: 'Node', metadata: { name } } }]);
      tell('1');
      process.pause();
      tell('2');
      tell('3');
      process.resume();
      tell('4');
      process.pause();
      tell('5');
      await world.sleep(1);
      process.resume();
      await world.sleep(1);
      tell('6');
      expect(heard).toEqual(['1', '2', '3', '4', '5', '6']);
    });
  }
});
