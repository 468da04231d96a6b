/**
 * Leaves out steps as long as the rest still fails: first halves, then single ones.
 *
 *     create a; lost publish a; create b; kill delete b   →   create b; kill delete b
 */
export async function shrink<Step>(steps: readonly Step[], fails: (steps: readonly Step[]) => Promise<boolean>): Promise<readonly Step[]> {
  let shortest = steps;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < shortest.length; ) {
      const candidate = [...shortest.slice(0, at), ...shortest.slice(at + size)];
      if (candidate.length > 0 && (await fails(candidate))) shortest = candidate;
      else at += size;
    }
  }
  return shortest;
}
