/** Unpacks layers: what the content store needs of the machine. */
export interface LayerUnpacker {
  /** Resolves with the facts of the layer. @throws ImageError if the layer is wrong itself, or an error of the machine, such as a full disk */
  unpack(request: LayerRequest): Promise<UnpackedLayer>;
  /** Resolves once all that was written to the file system of a directory outlives a loss of power. */
  sync(directory: string): Promise<void>;
  close(): Promise<void>;
}

export interface LayerRequest {
  /** The file of the layer's archive. */
  readonly blob: string;
  /** An empty directory. Its `fs` becomes the layer, in the form that overlays read. */
  readonly directory: string;
  /** The `fs` directories of the layers below, the uppermost first. */
  readonly parents: readonly string[];
  readonly limits: { readonly bytes: number; readonly entries: number };
}

export interface UnpackedLayer {
  /** The digest of the archive without its compression. */
  readonly diffId: string;
  /** Of its files. */
  readonly bytes: number;
  /** The users and groups of the image, up to this layer. */
  readonly passwd: string;
  readonly group: string;
}
