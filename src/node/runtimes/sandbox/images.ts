/** Images are only names here: containers see the host's files. The default commands of a few images are known. */
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

/** The container's command: its own, else the image's, else one that sleeps. */
export function programOf({ image, command, args }: Pick<ContainerSpec, 'image' | 'command' | 'args'>): readonly string[] {
  if (command.length > 0) return [...command, ...args];
  const name =
    image
      .replace(/@.*$/, '')
      .replace(/:[^:/]*$/, '')
      .split('/')
      .at(-1) ?? '';
  // Arguments without a known command are most often a command themselves.
  if (args.length > 0) return args;
  return (Object.hasOwn(known, name) ? known[name] : undefined) ?? forever;
}
