import { defineConfig } from 'vitest/config';

// Two cores: tests that start processes or wait for fsync leave room for one another. The limits are there to end what
// hangs, and never to measure: a machine may be slow, and stand still for seconds.
export default defineConfig({
  test: {
    alias: [{ find: /^fast-check$/, replacement: new URL('test/properties/seeded-fast-check.ts', import.meta.url).pathname }],
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/peers/**', 'node_modules/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
