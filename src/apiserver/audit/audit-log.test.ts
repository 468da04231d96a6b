import { describe, expect, it } from 'vitest';
import { SimulatedDisk } from '../../sim/world/disk.ts';
import { simulate, type SimulatedWorld } from '../../sim/world/world.ts';
import { AuditLog } from './audit-log.ts';
import { RotatingFile } from './rotating-file.ts';

const directory = '/var/log';

interface Bench {
  readonly log: AuditLog;
  readonly disk: SimulatedDisk;
  readonly counts: { written: number; dropped: number };
}

async function openLog(world: SimulatedWorld, disk: SimulatedDisk, rotation: Partial<Parameters<typeof RotatingFile.open>[0]> = {}): Promise<Bench> {
  const destination = await RotatingFile.open({
    directory,
    name: 'audit',
    extension: '.log',
    disk,
    clock: world.clock,
    maxBytes: 1_000_000,
    maxBackups: 0,
    maxAgeDays: 0,
    ...rotation,
  });
  const counts = { written: 0, dropped: 0 };
  const log = new AuditLog({ destination, world, written: (events) => (counts.written += events), dropped: (events) => (counts.dropped += events) });
  return { log, disk, counts };
}

const contents = async (disk: SimulatedDisk, name = 'audit.log'): Promise<string> =>
  Buffer.from(await disk.read(`${directory}/${name}`, 0, 1_000_000)).toString();

const errorsOf = (world: SimulatedWorld): readonly string[] => world.lines.filter(({ level }) => level === 'error').map(({ message }) => message);

describe('the audit log', () => {
  it('writes lines in their order, and the callers do not wait', () =>
    simulate(1, async (world) => {
      const { log, disk, counts } = await openLog(world, new SimulatedDisk());
      for (let i = 0; i < 100; i += 1) log.write(`${i}\n`);
      expect(await disk.size(`${directory}/audit.log`)).toBe(0);
      await log.stop();
      expect(await contents(disk)).toBe(Array.from({ length: 100 }, (_, i) => `${i}\n`).join(''));
      expect(counts).toEqual({ written: 100, dropped: 0 });
    }));

  it('goes on where an earlier start stopped', () =>
    simulate(2, async (world) => {
      const disk = new SimulatedDisk();
      for (const line of ['one\n', 'two\n']) {
        const { log } = await openLog(world, disk);
        log.write(line);
        await log.stop();
      }
      expect(await contents(disk)).toBe('one\ntwo\n');
    }));

  it('keeps what a full disk does not take, says so once, leaves no half lines, and writes it when there is room', () =>
    simulate(3, async (world) => {
      const { log, disk, counts } = await openLog(world, new SimulatedDisk({ capacity: 15 }));
      log.write('0123456789\n');
      await world.sleep(10);
      log.write('abcdefghij\n');
      await world.sleep(5_500);
      expect(counts).toEqual({ written: 1, dropped: 0 });
      expect(errorsOf(world)).toEqual(['cannot write the audit log, will retry']);
      disk.capacity = 1_000;
      await world.sleep(2_000);
      expect(await contents(disk)).toBe('0123456789\nabcdefghij\n');
      expect(counts).toEqual({ written: 2, dropped: 0 });
      await log.stop();
    }));

  it('makes a new file if the full one was taken away', () =>
    simulate(4, async (world) => {
      const { log, disk } = await openLog(world, new SimulatedDisk({ capacity: 15 }));
      log.write('0123456789\n');
      await world.sleep(10);
      log.write('abcdefghij\n');
      await world.sleep(1_500);
      await disk.remove(`${directory}/audit.log`);
      disk.capacity = 1_000;
      await world.sleep(2_000);
      expect(await contents(disk)).toBe('abcdefghij\n');
      await log.stop();
    }));

  it('drops what there is no room for, and says how much', () =>
    simulate(5, async (world) => {
      const { log, counts } = await openLog(world, new SimulatedDisk({ capacity: 0 }));
      for (let i = 0; i < 10_250; i += 1) log.write('x\n');
      expect(counts).toEqual({ written: 0, dropped: 250 });
      log.write('y'.repeat(65 * 1024 * 1024));
      expect(counts.dropped).toBe(251);
      await log.stop();
      expect(counts).toEqual({ written: 0, dropped: 10_251 });
      expect(world.lines.at(-1)).toMatchObject({ message: 'audit events were lost', fields: { events: 10_251 } });
    }));

  it('does not wait for ever for a disk that hangs', () =>
    simulate(6, async (world) => {
      const hangs = { now: false };
      const before = (): Promise<void> | undefined => (hangs.now ? new Promise(() => undefined) : undefined);
      const { log, counts } = await openLog(world, new SimulatedDisk({ before: ({ name }) => (name === 'append' ? before() : undefined) }));
      hangs.now = true;
      log.write('x\n');
      await log.stop();
      expect(counts).toEqual({ written: 0, dropped: 1 });
    }));
});

describe('rotation', () => {
  it('puts a full file aside under the time, and keeps as many as it is told', () =>
    simulate(7, async (world) => {
      const { log, disk } = await openLog(world, new SimulatedDisk(), { maxBytes: 25, maxBackups: 2 });
      for (let i = 0; i < 9; i += 1) {
        log.write(`line ${i} ..\n`);
        await world.sleep(1_000);
      }
      expect(await disk.list(directory)).toEqual(['audit-2026-01-01T00-00-06.000.log', 'audit-2026-01-01T00-00-08.000.log', 'audit.log'].sort());
      expect(await contents(disk)).toBe('line 8 ..\n');
      expect(await contents(disk, 'audit-2026-01-01T00-00-08.000.log')).toBe('line 6 ..\nline 7 ..\n');
      await log.stop();
    }));

  it('never replaces one file by another, however fast they fill', () =>
    simulate(8, async (world) => {
      const disk = new SimulatedDisk();
      const file = await RotatingFile.open({ directory, name: 'a', extension: '', disk, clock: world.clock, maxBytes: 5, maxBackups: 0, maxAgeDays: 0 });
      for (const line of ['one.\n', 'two.\n', 'three\n']) await file.write(Buffer.from(line));
      await file.close();
      const names = await disk.list(directory);
      const texts = await Promise.all(names.map((name) => contents(disk, name)));
      expect(texts.sort()).toEqual(['one.\n', 'three\n', 'two.\n']);
    }));

  it('removes what is too old, also at a start, and nothing else', () =>
    simulate(9, async (world) => {
      const disk = new SimulatedDisk();
      await disk.makeDirectory(directory);
      for (const name of ['audit-2025-12-28T00-00-00.000.log', 'audit-2025-12-31T00-00-00.000.log', 'audit-notes.log', 'other.log']) {
        await (await disk.openAppend(`${directory}/${name}`)).close();
      }
      const { log } = await openLog(world, disk, { maxAgeDays: 2 });
      expect(await disk.list(directory)).toEqual(['audit-2025-12-31T00-00-00.000.log', 'audit-notes.log', 'audit.log', 'other.log']);
      await log.stop();
    }));
});
