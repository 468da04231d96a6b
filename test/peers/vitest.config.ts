import { defineConfig } from 'vitest/config';

// Peers are processes of others and need Go to be built: these tests are no part of `npm test`. One file at a time, so that two drivers of one
// name never meet.
export default defineConfig({
  test: {
    include: ['test/peers/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 120_000, interval: 100 } },
  },
});
