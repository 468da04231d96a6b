import { expect, test } from 'vitest';

test('signing needs nobody to have issued certificates before: a later start has not', async () => {
  const { signRequest } = await import('./sign-request.ts');
  expect(signRequest).toBeTypeOf('function');
});
