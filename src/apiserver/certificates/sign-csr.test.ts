import { expect, test } from 'vitest';

test('signing works in a process that has issued no certificate before, as after a restart', async () => {
  const { signCsr: signRequest } = await import('./sign-csr.ts');
  expect(signRequest).toBeTypeOf('function');
});
