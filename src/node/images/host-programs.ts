/** Containers whose image is only a name: they see the files of the node, and run its programs. The usual commands of a few images are known. */
import type { ContainerSpec } from '../runtime.ts';

/** By the last part of the image's name, without its tag. The pause image does nothing else. */
const known: Readonly<Record<string, readonly string[]>> = {
  pause: ['sleep', 'infinity'],
  busybox: ['sh'],
  alpine: ['sh'],
  bash: ['bash'],
  debian: ['bash'],
  ubuntu: ['bash'],
  centos: ['bash'],
};

/** With the container's whole command, or why it has none: to run something else in its place would be a lie. */
export function withHostProgram(spec: ContainerSpec): ContainerSpec | { readonly error: string } {
  const { image, command, args } = spec;
  // Arguments without a command are most often a command themselves.
  if (command.length + args.length > 0) return { ...spec, command: [...command, ...args], args: [] };
  const name =
    (image.split('@')[0] ?? '')
      .replace(/:[^:/]*$/, '')
      .split('/')
      .at(-1) ?? '';
  const usual = Object.hasOwn(known, name) ? known[name] : undefined;
  if (usual !== undefined) return { ...spec, command: usual };
  return {
    error: `the program of image ${JSON.stringify(image)} is not known: images are only names here, and containers run programs of the node (--images=host). Set the container's command, or load the image: moor load FILE`,
  };
}

/** The image id of such containers. */
export const hostImageId = 'mooring.dev/host-image';
