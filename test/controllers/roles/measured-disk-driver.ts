import type { DriverCapabilities } from '../../../src/api/volumes/driver-capabilities.ts';
import { type DriverAnswer, type DriverCapacity, succeeded } from '../../../src/drivers/contract.ts';
import { SimulatedDiskDriver } from '../../../src/sim/drivers/simulated-disk-driver.ts';

/** Tells how much room is left. */
export class MeasuredDiskDriver extends SimulatedDiskDriver {
  /** In bytes. */
  available = 10n * 1024n ** 3n;
  override readonly capabilities: DriverCapabilities = {
    name: 'disks.example.com',
    provisions: true,
    deletes: true,
    mountOptions: true,
    block: true,
    expands: 'always',
    attaches: true,
    csi: { topology: false, clones: false, restores: false, modifies: false, reportsCapacity: true },
  };

  async getCapacity(): Promise<DriverAnswer<DriverCapacity>> {
    return succeeded({ available: this.available });
  }
}
