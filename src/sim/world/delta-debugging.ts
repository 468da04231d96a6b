/** Delta debugging: leaves out halves, then quarters, … then single ones, as long as `breaks` is true. */
export async function reduce<T>(all: readonly T[], breaks: (left: readonly T[]) => Promise<boolean>): Promise<void> {
  let left = all;
  for (let size = Math.ceil(left.length / 2); size >= 1; ) {
    let isSmaller = false;
    for (let from = 0; from < left.length; ) {
      const without = [...left.slice(0, from), ...left.slice(from + size)];
      if (await breaks(without)) [left, isSmaller] = [without, true];
      else from += size;
    }
    if (size === 1 && !isSmaller) return;
    if (!isSmaller || size > 1) size = size === 1 ? 1 : Math.ceil(size / 2);
    if (left.length === 0) return;
  }
}
