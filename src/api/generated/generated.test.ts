import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('types and schema are what the facts say', () => {
  const generator = fileURLToPath(new URL('../../../scripts/generate/generate.mjs', import.meta.url));
  expect(() => execFileSync(process.execPath, [generator, '--check'], { stdio: 'pipe' })).not.toThrow();
});
