import { Duplex } from 'node:stream';

/** For tests: both ends of a connection. One reads what the other writes; both are destroyed together. */
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
