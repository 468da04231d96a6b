import type { Source } from '../../client/controller/loop.ts';
import type { Cancel } from '../../world/world.ts';

/** The drivers of this process come and go. */
export interface ChangingDrivers {
  /** `listener`: called with the name of a driver that came, went or changed. */
  onChange(listener: (name: string) => void): Cancel;
}

/** Enqueues what waited for a driver. */
export const driverSource = <Key extends string>(drivers: ChangingDrivers, keys: (driver: string) => Iterable<Key>): Source<Key> => ({
  subscribe: (_, add) =>
    drivers.onChange((name) => {
      for (const key of keys(name)) add(key);
    }),
});
