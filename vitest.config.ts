import { defineConfig } from 'vitest/config';

// Two cores: tests that start processes or wait for fsync leave room for one another.
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
