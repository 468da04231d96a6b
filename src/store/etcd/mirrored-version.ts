import { ownBytes, Version } from '../mvcc/version.ts';

/** A version that came from etcd, which counts the writes of a key since its creation: a gap in the count is a lost event. */
export class MirroredVersion extends Version {
  readonly #writes: number;

  constructor(of: { key: string; value: Uint8Array; createRevision: number; modRevision: number; writes: number; memo?: unknown }) {
    super({ ...of, value: ownBytes(of.value) });
    this.#writes = of.writes;
  }

  /** Whether no write of the key lies between the two. `previous`: undefined if the key did not exist. */
  follows(previous: Version | undefined): boolean {
    if (previous === undefined) return this.#writes === 1;
    return previous instanceof MirroredVersion && this.createRevision === previous.createRevision && this.#writes === previous.#writes + 1;
  }
}
