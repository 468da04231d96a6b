/** SPDY/3.1, as far as Kubernetes speaks it: streams with headers that the client opens, data both ways. */
import { Duplex } from 'node:stream';
import { constants, createInflate, type Inflate } from 'node:zlib';
import { spdyDictionary } from './spdy-dictionary.ts';

const types = { synStream: 1, synReply: 2, rstStream: 3, settings: 4, ping: 6, goAway: 7 } as const;
const fin = 1;

/** Streams that one client may have open at a time, and data that one frame may have. */
const maxStreams = 1000;
const maxFrameBytes = 4 * 1024 * 1024;
/** Headers of a stream, unpacked: a frame of zeros would be gigabytes. */
const maxHeaderBytes = 64 * 1024;

export interface SpdyStream extends Duplex {
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

/** Either side. Calls back with each stream that the other side opens, in order, until the connection ends. */
export class SpdySession {
  readonly #socket: Duplex;
  readonly #onStream: (stream: SpdyStream) => void;
  readonly #streams = new Map<number, Stream>();
  readonly #inflate: Inflate;
  #unread: Buffer = Buffer.alloc(0);
  /** Headers are unpacked one after the other, and what follows waits for them. */
  #isUnpacking = false;
  #hasSentHeaders = false;
  /** Streams that clients open have odd numbers. */
  #nextId = 1;

  constructor(socket: Duplex, head: Buffer, onStream: (stream: SpdyStream) => void) {
    this.#socket = socket;
    this.#onStream = onStream;
    this.#inflate = createInflate({ dictionary: spdyDictionary, flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH });
    this.#inflate.on('error', () => socket.destroy());
    // Each stream that waits for the socket listens to it.
    socket.setMaxListeners(0);
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      for (const stream of this.#streams.values()) stream.destroy();
      this.#inflate.close();
    });
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    if (head.length > 0) this.#receive(head);
  }

  /** As a client: opens a stream. Its headers are not answered with others. */
  open(headers: Readonly<Record<string, string>>): SpdyStream {
    const id = this.#nextId;
    this.#nextId += 2;
    const names = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    this.#send(control(types.synStream, 0, Buffer.concat([numbers(id, 0), Buffer.alloc(2), this.#headerBlock(names)])));
    return this.#add(id, names);
  }

  end(): void {
    this.#socket.end();
  }

  #add(id: number, headers: ReadonlyMap<string, string>): Stream {
    const stream = new Stream(headers, {
      send: (bytes, isLast) => this.#send(data(id, isLast ? fin : 0, bytes)),
      onceDrained: (callback) => void this.#socket.once('drain', callback),
      gone: () => this.#streams.delete(id),
      reset: () => this.#send(control(types.rstStream, 0, numbers(id, 5))),
    });
    this.#streams.set(id, stream);
    if (this.#socket.destroyed) stream.destroy();
    return stream;
  }

  #receive(chunk: Buffer): void {
    this.#unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]);
    this.#readFrames();
  }

  #readFrames(): void {
    while (!this.#isUnpacking && this.#unread.length >= 8) {
      const length = this.#unread.readUIntBE(5, 3);
      if (length > maxFrameBytes) {
        this.#socket.destroy();
        return;
      }
      if (this.#unread.length < 8 + length) return;
      const frame = this.#unread.subarray(0, 8 + length);
      this.#unread = this.#unread.subarray(8 + length);
      if (frame.readUInt8(0) < 0x80) this.#takeData(frame);
      else this.#takeControl(frame);
    }
  }

  #takeData(frame: Buffer): void {
    const stream = this.#streams.get(frame.readUInt32BE(0));
    if (stream === undefined) return;
    if (frame.length > 8 && !stream.push(Buffer.from(frame.subarray(8)))) this.#pauseFor(stream);
    if ((frame.readUInt8(4) & fin) !== 0) stream.push(null);
  }

  /** One stream that is not read holds up the others: clients of Kubernetes know no other flow control. */
  #pauseFor(stream: Stream): void {
    this.#socket.pause();
    stream.onRead = () => this.#socket.resume();
  }

  #takeControl(frame: Buffer): void {
    const type = frame.readUInt16BE(2);
    const payload = frame.subarray(8);
    if (type === types.synStream && payload.length >= 10) {
      this.#isUnpacking = true;
      const [id, flags] = [payload.readUInt32BE(0) & 0x7fffffff, frame.readUInt8(4)];
      void unpack(this.#inflate, Buffer.from(payload.subarray(10))).then((block) => {
        this.#isUnpacking = false;
        if (block === undefined) return void this.#socket.destroy();
        this.#open(id, flags, block);
        this.#readFrames();
      });
    } else if (type === types.rstStream && payload.length >= 8) {
      this.#streams.get(payload.readUInt32BE(0) & 0x7fffffff)?.destroy();
    } else if (type === types.ping) this.#send(Buffer.from(frame));
    else if (type === types.goAway) this.#socket.end();
  }

  #open(id: number, flags: number, block: Buffer): void {
    if (this.#socket.destroyed) return;
    if (this.#streams.has(id) || this.#streams.size >= maxStreams) {
      this.#send(control(types.rstStream, 0, numbers(id, 3)));
      return;
    }
    const stream = this.#add(id, readHeaders(block));
    this.#send(control(types.synReply, 0, Buffer.concat([numbers(id), this.#headerBlock(new Map())])));
    if ((flags & fin) !== 0) stream.push(null);
    this.#onStream(stream);
  }

  /** In a block that is stored as it is, and an empty one behind it, at which readers take what they have. The first begins as zlib does. */
  #headerBlock(headers: ReadonlyMap<string, string>): Buffer {
    const begin = this.#hasSentHeaders ? Buffer.alloc(0) : Buffer.from([0x78, 0x01]);
    this.#hasSentHeaders = true;
    return Buffer.concat([begin, storedBlock(writeHeaders(headers)), storedBlock(Buffer.alloc(0))]);
  }

  #send(bytes: Buffer): boolean {
    return this.#socket.destroyed || this.#socket.writableEnded || this.#socket.write(bytes);
  }
}

interface StreamTransport {
  /** False: wait before you send more. */
  send(bytes: Uint8Array, isLast: boolean): boolean;
  onceDrained(callback: () => void): void;
  gone(): void;
  reset(): void;
}

class Stream extends Duplex implements SpdyStream {
  readonly headers: ReadonlyMap<string, string>;
  readonly #line: StreamTransport;
  onRead: () => void = () => undefined;

  constructor(headers: ReadonlyMap<string, string>, line: StreamTransport) {
    super({ allowHalfOpen: true });
    this.headers = headers;
    this.#line = line;
    this.on('error', () => undefined);
  }

  override _read(): void {
    this.onRead();
    this.onRead = () => undefined;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    if (this.#line.send(chunk, false)) callback();
    else this.#line.onceDrained(callback);
  }

  override _final(callback: () => void): void {
    this.#line.send(Buffer.alloc(0), true);
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.onRead();
    if (!this.writableFinished) this.#line.reset();
    this.#line.gone();
    callback(error);
  }
}

/** Undefined: it is too long. */
function unpack(inflate: Inflate, packed: Buffer): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    const onData = (part: Buffer): void => {
      size += part.length;
      if (size <= maxHeaderBytes) return void parts.push(part);
      // The rest is not unpacked.
      inflate.destroy();
      resolve(undefined);
    };
    inflate.on('data', onData);
    inflate.write(packed, () => {
      inflate.off('data', onData);
      resolve(Buffer.concat(parts));
    });
  });
}

/** A number of pairs, each a length and a name, a length and a value. What is broken ends the list. */
function readHeaders(block: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 4;
  const text = (): string => {
    const length = at + 4 <= block.length ? block.readUInt32BE(at) : 0;
    const from = at + 4;
    at = from + length;
    return block.toString('utf8', from, at);
  };
  while (at < block.length) headers.set(text().toLowerCase(), text());
  return headers;
}

function writeHeaders(headers: ReadonlyMap<string, string>): Buffer {
  const text = (value: string): Buffer => Buffer.concat([numbers(Buffer.byteLength(value)), Buffer.from(value)]);
  return Buffer.concat([numbers(headers.size), ...Array.from(headers, ([name, value]) => Buffer.concat([text(name), text(value)]))]);
}

/** Of deflate: at most 64 KiB. */
function storedBlock(bytes: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt16LE(bytes.length, 1);
  head.writeUInt16LE(0xffff ^ bytes.length, 3);
  return Buffer.concat([head, bytes]);
}

function control(type: number, flags: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x8003, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt8(flags, 4);
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

function data(id: number, flags: number, bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(id, 0);
  head.writeUInt8(flags, 4);
  head.writeUIntBE(bytes.length, 5, 3);
  return Buffer.concat([head, bytes]);
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => bytes.writeUInt32BE(value, 4 * i));
  return bytes;
}
