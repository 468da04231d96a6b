/** Names under which volumes are attached. The kernel of a Nitro instance does not use them: the node finds the device by the volume's id. */

const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');

/** The CSI driver's list, in its order: /dev/xvdaa … /dev/xvddx (aws-ebs-csi-driver, pkg/cloud/devicemanager/device_names.go). */
const names: readonly string[] = ['a', 'b', 'c', 'd'].flatMap((first) =>
  letters.filter((second) => first !== 'd' || second <= 'x').map((second) => `/dev/xvd${first}${second}`),
);

/** The first name that no volume has. `unlikely`: names that EC2 refused before; they come last. Undefined: all are taken. */
export function freeDeviceName(taken: ReadonlySet<string>, unlikely: ReadonlySet<string> = new Set()): string | undefined {
  return names.find((name) => !taken.has(name) && !unlikely.has(name)) ?? names.find((name) => !taken.has(name));
}

/** The ring of the in-tree plugin (awsebs, 2017): /dev/xvdba … /dev/xvdcz. A name that was given up comes last, since its device may still be there. */
export class DeviceRing {
  readonly #ring = ['b', 'c'].flatMap((first) => letters.map((second) => `/dev/xvd${first}${second}`));
  #last = -1;

  /** The next name after the last one that is free. Undefined: there is none. */
  next(taken: ReadonlySet<string>): string | undefined {
    for (let step = 1; step <= this.#ring.length; step++) {
      const index = (this.#last + step) % this.#ring.length;
      const name = this.#ring[index];
      if (name === undefined || taken.has(name)) continue;
      this.#last = index;
      return name;
    }
    return undefined;
  }
}
