/** Image files by name. Errors have the `code` of the system call. */
export interface Images {
  /** Also of an image that does not exist. */
  readonly path: (name: string) => string;
  /** Atomically, with an empty file system or blank. An existing image stays as it is. */
  create(name: string, bytes: bigint, content?: 'file system' | 'nothing'): Promise<void>;
  /** In bytes; undefined: the image does not exist. */
  size(name: string): Promise<bigint | undefined>;
  /** The file. A larger one stays. */
  grow(name: string, bytes: bigint): Promise<void>;
  /** A missing image is no error. A mounted one disappears with its last mount. */
  remove(name: string): Promise<void>;
  list(): Promise<readonly string[]>;
}

/** The loop devices of images. `image`: the file's path. */
export interface ImageDevices {
  /** Grows the device and its file system to the file's size. Without a device: nothing to do, the next mount grows it. EBUSY: not while it is mounted; the next mount grows it. */
  grow(image: string): Promise<void>;
  /** Removes its device, unless it is mounted or bound. */
  release(image: string): Promise<void>;
}
