/** 'nginx@sha256:…' of 'nginx:1.27': the digest of an image that is only a name. */
export function imageIdOf(image: string, sha256: (text: string) => string): string {
  if (image.includes('@')) return image;
  const tag = image.lastIndexOf(':');
  const name = tag > image.lastIndexOf('/') ? image.slice(0, tag) : image;
  return `${name}@sha256:${sha256(image)}`;
}
