// A process to be killed: opens the embedded store on the real disk and writes with many writers at once. Each
// acknowledgement goes to standard output, at once, as `ack WRITER NUMBER REVISION`.
//
//     node writers.mjs DIRECTORY [TRANSACTIONS PER WRITER]
import { writeSync } from 'node:fs';
import { realDisk } from '../../dist/host/disk.js';
import { openEmbeddedStore } from '../../dist/store/embedded/embedded-store.js';

const WRITERS = 16;
const [directory = '', most = 'Infinity'] = process.argv.slice(2);

// Small, so that logs are changed and snapshots written all the time.
const store = await openEmbeddedStore({ directory, disk: realDisk, segmentBytes: 64 << 10, rewriteBytes: 64 << 10 });
writeSync(1, 'open\n');

const encoder = new TextEncoder();
/** Different in length and content for each number, so that no torn or mixed value looks valid. */
const valueOf = (number) => encoder.encode(`${number}:${String(number).repeat((number * 37) % 400)}`);

async function write(writer) {
  const found = await store.get(`/writers/${writer}/first`);
  const start = found === undefined ? 0 : Number.parseInt(new TextDecoder().decode(found.value), 10);
  let modRevision = found?.modRevision ?? 0;
  for (let number = start + 1; number <= start + Number(most); number++) {
    const value = valueOf(number);
    const result = await store.transact({
      compares: [{ key: `/writers/${writer}/first`, modRevision }],
      writes: [
        { type: 'put', key: `/writers/${writer}/first`, value },
        { type: 'put', key: `/writers/${writer}/second`, value },
        { type: 'put', key: `/log/${writer}/${number}`, value: encoder.encode(`${number}`) },
        { type: 'delete', key: `/log/${writer}/${number - 5}` },
      ],
    });
    if (!result.ok) throw new Error('only this writer writes these keys');
    modRevision = result.revision;
    writeSync(1, `ack ${writer} ${number} ${result.revision}\n`);
    if (number % 50 === 0) await store.compact(Math.max(result.revision - 100, 1));
  }
}

await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
await store.close();
