import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ContentStore } from './content-store.ts';

let directory: string;
let store: ContentStore;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'content-'));
  store = new ContentStore({ directory, limit: 100, now: () => 0 });
  await store.open();
});
afterEach(() => rm(directory, { recursive: true }));

test('blobs that are written at once do not take the same room', async () => {
  const claims = await Promise.allSettled([store.ingest({ size: 60 }), store.ingest({ size: 60 })]);
  expect(claims.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  for (const claim of claims) if (claim.status === 'fulfilled') await claim.value.abandon();
  expect(await store.room()).toBe(100);
});

test('room is free again after a blob that was refused, and taken by one that was written', async () => {
  await expect(store.write([Buffer.alloc(61)], { size: 60 })).rejects.toThrow('longer than the 60 bytes');
  expect(await store.room()).toBe(100);
  await store.write([Buffer.alloc(60)], { size: 60 });
  expect(await store.room()).toBe(40);
  await expect(store.ingest({ size: 41 })).rejects.toThrow('no space left for images');
  expect(await store.room()).toBe(40);
});
