/** Images are names here: containers see the host's files. Of a few, what they do when nothing else is asked of them is known. */
import type { ContainerSpec } from '../../runtime.ts';

const forever = ['sleep', 'infinity'];

/** By the last part of the image's name, without its tag. */
const known: Readonly<Record<string, readonly string[]>> = {
  pause: forever,
  busybox: ['sh'],
  alpine: ['sh'],
  bash: ['bash'],
  debian: ['bash'],
  ubuntu: ['bash'],
};

/** What the container runs: what was asked for, else what the image is known for, else nothing, for as long as it is let. */
export function programOf({ image, command, args }: Pick<ContainerSpec, 'image' | 'command' | 'args'>): readonly string[] {
  if (command.length > 0) return [...command, ...args];
  const name =
    image
      .replace(/@.*$/, '')
      .replace(/:[^:/]*$/, '')
      .split('/')
      .at(-1) ?? '';
  // Arguments for a program that nobody knows are most often a program of their own.
  if (args.length > 0) return args;
  return (Object.hasOwn(known, name) ? known[name] : undefined) ?? forever;
}
