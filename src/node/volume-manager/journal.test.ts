import { describe, expect, test } from 'vitest';
import { SimulatedDisk } from '../../sim/world/disk.ts';
import { Prng } from '../../sim/world/prng.ts';
import { SimulatedWorld } from '../../sim/world/world.ts';
import { Journal, JournalDamage, type StagedRecord } from './journal.ts';

const { log } = new SimulatedWorld(1);
const directory = '/journal';
const open = (disk: SimulatedDisk) => Journal.open({ disk, directory, log });
const record = (key: string): StagedRecord => ({ type: 'staged', key, driver: 'd', name: 'n', uniqueName: 'u', attached: undefined });
const keysIn = (journal: Journal) => [...journal.records].map(({ key }) => key).sort();
const bytesIn = async (disk: SimulatedDisk) => disk.size(`${directory}/mounts.journal`);

describe('the journal of mounts', () => {
  test('has what was put and not dropped, in every later process', async () => {
    const disk = new SimulatedDisk();
    const first = await open(disk);
    await Promise.all(['a', 'b', 'c'].map((key) => first.put(record(key))));
    await first.drop('b');
    const next = await open(disk.kill());
    expect(keysIn(next)).toEqual(['a', 'c']);
    expect([...next.records][0]).toEqual(JSON.parse(JSON.stringify(record('a'))));
  });

  test('of what resolved, nothing is lost when the power fails, whatever else is', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const random = new Prng(seed);
      const disk = new SimulatedDisk();
      const journal = await open(disk);
      await journal.put(record('kept'));
      await journal.put(record('dropped'));
      await journal.drop('dropped');
      void journal.put(record('under way'));
      const survivor = disk.crash(random);
      const after = await open(survivor);
      expect(
        keysIn(after).filter((key) => key !== 'under way'),
        `seed ${seed}`,
      ).toEqual(['kept']);
      // And it goes on, whatever the crash left of the last line.
      await after.put(record('later'));
      expect(keysIn(await open(survivor.kill())), `seed ${seed}`).toEqual(expect.arrayContaining(['kept', 'later']));
    }
  });

  test('a last line that was cut off takes nothing else with it', async () => {
    const disk = new SimulatedDisk();
    const journal = await open(disk);
    await journal.put(record('a'));
    const file = await disk.openAppend(`${directory}/mounts.journal`);
    await file.append([new TextEncoder().encode('\n12345678 [{"put":{"type":"sta')]);
    const next = disk.kill();
    await (await open(next)).put(record('b'));
    expect(keysIn(await open(next.kill()))).toEqual(['a', 'b']);
  });

  async function written(): Promise<SimulatedDisk> {
    const disk = new SimulatedDisk();
    const first = await open(disk);
    for (const key of ['a', 'b', 'c']) await first.put(record(key));
    const next = disk.kill();
    const journal = await open(next);
    for (const key of ['d', 'e']) await journal.put(record(key));
    return next.kill();
  }

  test('missing, empty, cut within what was written together, or with any byte changed before the last line: refused, and left as it is', async () => {
    const path = `${directory}/mounts.journal`;
    const sound = await written();
    const bytes = Buffer.from(await sound.read(path, 0, await sound.size(path)));
    const lastLine = bytes.lastIndexOf('\n', bytes.length - 2);
    const whole = bytes.indexOf('"key":"c"');
    for (let offset = 0; offset < bytes.length; offset++) {
      const disk = await written();
      const old = bytes.readUInt8(offset);
      disk.damage(path, offset, Uint8Array.of(old ^ 4));
      const isBreak = old === 10;
      if (isBreak) continue;
      if (offset < lastLine) await expect(open(disk), `offset ${offset}`).rejects.toThrow(JournalDamage);
      else expect(keysIn(await open(disk))).toEqual(['a', 'b', 'c', 'd']);
    }
    for (let size = whole; size >= 0; size -= 7) {
      const disk = await written();
      await disk.truncate(path, size);
      await expect(open(disk), `size ${size}`).rejects.toThrow(JournalDamage);
      expect(await disk.size(path)).toBe(size);
    }
    const removed = await written();
    await removed.remove(path);
    await expect(open(removed)).rejects.toThrow('/journal/mounts.journal is damaged and was not changed: expected a journal of mounts, found no file');
  });

  test('of format 1 is read, and written anew', async () => {
    const disk = new SimulatedDisk();
    await disk.makeDirectory(directory);
    const file = await disk.openAppend(`${directory}/mounts.journal`);
    await file.append([new TextEncoder().encode(`\n${JSON.stringify({ put: record('a') })}\n\n${JSON.stringify({ put: record('b') })}\n\n{"drop":"b"}\n`)]);
    await file.sync();
    expect(keysIn(await open(disk))).toEqual(['a']);
    expect(keysIn(await open(disk.kill()))).toEqual(['a']);
  });

  test('is shortened, so that it does not grow for ever', async () => {
    const disk = new SimulatedDisk();
    const journal = await open(disk);
    await journal.put(record('stays'));
    for (let i = 0; i < 600; i++) {
      await journal.put(record('comes and goes'));
      await journal.drop('comes and goes');
    }
    expect(await bytesIn(disk)).toBeLessThan(40_000);
    expect(keysIn(await open(disk.kill()))).toEqual(['stays']);
  });

  test('a disk that is full is told to who asked, and is no reason to lose the rest', async () => {
    const disk = new SimulatedDisk();
    const journal = await open(disk);
    await journal.put(record('a'));
    disk.capacity = disk.used + 10;
    await expect(journal.put(record('b'))).rejects.toMatchObject({ code: 'ENOSPC' });
    disk.capacity = Number.POSITIVE_INFINITY;
    await journal.put(record('c'));
    expect(keysIn(await open(disk.kill()))).toEqual(['a', 'c']);
  });

  test('a change whose sync failed does not count later', async () => {
    let broken = false;
    const disk = new SimulatedDisk({
      before: ({ name }) => {
        if (broken && name === 'sync') throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
      },
    });
    const journal = await open(disk);
    await journal.put(record('a'));
    broken = true;
    await expect(journal.put(record('b'))).rejects.toMatchObject({ code: 'EIO' });
    await expect(journal.drop('a')).rejects.toMatchObject({ code: 'EIO' });
    broken = false;
    await journal.put(record('c'));
    expect(keysIn(await open(disk.kill()))).toEqual(['a', 'c']);
  });
});
