import type { Command } from './command.ts';

/** For commands beside `moor up` that have to know its volumes with a size. */
export const imagesFlag: NonNullable<Command['flags']>[number] = {
  name: 'data-dir',
  value: 'DIR',
  about: 'of the "moor up" on this machine whose volumes are images in it',
  default: 'no images',
};
