import type { Entry } from '../contract.ts';

/** One revision of one key, linked to the one before it for as long as that one can still be read. */
export class Version implements Entry {
  readonly key: string;
  readonly value: Uint8Array;
  /** 0: this revision deleted the key. */
  readonly createRevision: number;
  readonly modRevision: number;
  memo: unknown;
  /** Private, so that an entry shows nothing but what the contract names. */
  #older: Version | undefined;

  constructor(of: { key: string; value: Uint8Array; createRevision: number; modRevision: number; memo?: unknown }) {
    this.key = of.key;
    this.value = of.value;
    this.createRevision = of.createRevision;
    this.modRevision = of.modRevision;
    this.memo = of.memo;
    this.#older = undefined;
  }

  get older(): Version | undefined {
    return this.#older;
  }
  set older(version: Version | undefined) {
    this.#older = version;
  }

  get deleted(): boolean {
    return this.createRevision === 0;
  }
}

const NO_BYTES = new Uint8Array(0);

export const tombstone = (key: string, modRevision: number): Version => new Version({ key, value: NO_BYTES, createRevision: 0, modRevision });

/** The version as readers see it: a deleted key holds nothing. */
export const visible = (version: Version | undefined): Version | undefined => (version === undefined || version.deleted ? undefined : version);

/** What the key held at `revision`, given the newest version of it. */
export function versionAt(newest: Version, revision: number): Version | undefined {
  let version: Version | undefined = newest;
  while (version !== undefined && version.modRevision > revision) version = version.older;
  return visible(version);
}

/**
 * The bytes, in a buffer of their own. A view of a larger buffer (a pooled Buffer, a chunk read from disk) would keep
 * all of that buffer in memory for as long as the key lives.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
