import { Duplex } from 'node:stream';

/** For tests: both ends of a connection. What one writes, the other reads; if one is destroyed, so is the other. */
export function duplexPair(): readonly [Duplex, Duplex] {
  const make = (other: () => Duplex): Duplex =>
    new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, callback) => {
        other().push(chunk);
        callback();
      },
      final: (callback) => {
        other().push(null);
        callback();
      },
      destroy: (_, callback) => {
        other().destroy();
        callback(null);
      },
    });
  const near: Duplex = make(() => far);
  const far: Duplex = make(() => near);
  return [near, far];
}
