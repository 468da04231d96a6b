import { describe, expect, test } from 'vitest';
import { isReference, parseReference, referenceText, repositoryOf } from './reference.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

describe('a name of an image', () => {
  test.each([
    ['busybox', 'docker.io/library/busybox:latest'],
    ['busybox:1.36', 'docker.io/library/busybox:1.36'],
    ['a/b', 'docker.io/a/b:latest'],
    ['index.docker.io/library/busybox', 'docker.io/library/busybox:latest'],
    ['localhost/app', 'localhost/app:latest'],
    ['localhost:5000/app:v1', 'localhost:5000/app:v1'],
    ['registry.k8s.io/e2e-test-images/agnhost:2.56', 'registry.k8s.io/e2e-test-images/agnhost:2.56'],
    ['[::1]:5000/app', '[::1]:5000/app:latest'],
    [`app:v1@${digest}`, `docker.io/library/app@${digest}`],
    [`example.com/a__b/c-d.e@${digest}`, `example.com/a__b/c-d.e@${digest}`],
  ])('%s is %s', (image, full) => {
    const parsed = parseReference(image);
    expect(isReference(parsed) && referenceText(parsed)).toBe(full);
    expect(isReference(parsed) && full.startsWith(repositoryOf(parsed))).toBe(true);
  });

  test.each([
    ['Foo', 'repository name must be lowercase'],
    ['a/Foo', 'repository name must be lowercase'],
    ['', 'invalid reference format'],
    ['a b', 'invalid reference format'],
    ['a:', 'invalid reference format'],
    ['a//b', 'invalid reference format'],
    ['../a', 'invalid reference format'],
    ['a:b:c', 'invalid reference format'],
    ['a@sha256:12', 'invalid reference format'],
    [`a@sha512:${'0'.repeat(128)}`, 'unsupported digest algorithm'],
    ['x'.repeat(300), 'repository name must not be more than 255 characters'],
  ])('%j is refused', (image, error) => {
    expect(parseReference(image)).toEqual({ error });
  });
});
