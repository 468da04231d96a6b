import type { ImageSettings } from '../../cluster/image-content.ts';
import { type Flag, type FlagValues, UsageError } from '../command.ts';

export const imageFlags: readonly Flag[] = [
  {
    name: 'images',
    value: 'KIND',
    about:
      'what a container sees whose image was not loaded ("moor load"): host (programs and libraries of this machine) or registry (the image, which is pulled)',
    oneOf: ['host', 'registry'],
    default: 'host',
  },
  {
    name: 'registry-mirror',
    value: 'REGISTRY=URL',
    about: 'with --images registry: where images of a registry are looked for first, such as docker.io=http://127.0.0.1:5000',
    repeatable: true,
    default: 'none',
  },
];

/** @throws UsageError */
export function imageOptions(flags: FlagValues): ImageSettings {
  const mirrors = new Map<string, readonly string[]>();
  for (const mirror of flags.all('registry-mirror')) {
    const [, registry = '', url = ''] = /^([^=/]+)=(https?:\/\/[^\s?#]+)$/.exec(mirror) ?? [];
    if (!URL.canParse(url)) throw new UsageError(`--registry-mirror must be REGISTRY=URL, such as docker.io=http://127.0.0.1:5000, not "${mirror}"`);
    mirrors.set(registry, [...(mirrors.get(registry) ?? []), url.replace(/\/+$/, '')]);
  }
  const source = flags.text('images') === 'registry' ? 'registry' : 'host';
  if (mirrors.size > 0 && source === 'host') throw new UsageError('--registry-mirror needs --images registry');
  return { source, mirrors };
}

/** Of the ready screen. */
export const imagesLine = (source: ImageSettings['source']): string =>
  source === 'registry'
    ? 'those of "moor load", others are pulled from their registries (--images=registry)'
    : 'those of "moor load"; other names stand for programs of this machine (--images=host)';
