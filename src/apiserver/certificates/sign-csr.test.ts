import { expect, test } from 'vitest';

test('signing needs nobody to have issued certificates before: a later start has not', async () => {
  const { signCsr: signRequest } = await import('./sign-csr.ts');
  expect(signRequest).toBeTypeOf('function');
});
