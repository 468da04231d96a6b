import type { Kind } from '../../api/kind.ts';
import type { Status } from '../../api/status.ts';
import type { WatchEvent } from '../api.ts';
import type { Rendition } from './accept.ts';
import { partialMetadata } from './metadata-only.ts';
import { protobufErrorFrame, protobufFrame } from './protobuf.ts';
import { type TableOptions, tableOfObject } from './table.ts';

/** Turns events into the bytes of a watch, each event once for all watches that want it the same way. */
export interface FrameEncoder {
  frame(event: WatchEvent): Uint8Array;
  /** The last frame of a watch that ends with an error. */
  errorFrame(status: Status): Uint8Array;
}

export interface FrameOptions {
  readonly kind: Kind;
  readonly rendition: Rendition;
  readonly includeObject: TableOptions['includeObject'];
  readonly now: () => number;
  /** Called for every event that had to be encoded. */
  readonly encoded: () => void;
}

/** Encoded forms of one event, by how they are encoded. Lives and dies with the event. */
type Memo = Map<string, Uint8Array>;

export function frameEncoder(options: FrameOptions): FrameEncoder {
  const { rendition, encoded } = options;
  const { as, format } = rendition;
  if (as?.kind === 'Table') return tableFrames(options, as);
  const form = as === undefined ? format : `${format};${as.kind};${as.version}`;
  if (format === 'protobuf') {
    return { frame: (event) => remembered(event, form, { encode: () => protobufFrame(options.kind, event, as), encoded }), errorFrame: protobufErrorFrame };
  }
  const object =
    as === undefined
      ? (event: WatchEvent) => event.stored.json()
      : (event: WatchEvent) => Buffer.from(JSON.stringify(partialMetadata(event.stored.object, as)));
  return { frame: (event) => remembered(event, form, { encode: () => jsonFrame(event.type, object(event)), encoded }), errorFrame };
}

/** The first frame of a watch carries the columns, later ones do not. */
function tableFrames(options: FrameOptions, as: NonNullable<Rendition['as']>): FrameEncoder {
  const { kind, includeObject, now } = options;
  let headers = true;
  return {
    frame(event) {
      const form = `table;${as.version};${includeObject};${headers}`;
      const table: TableOptions = { as, includeObject, headers, now: now() };
      headers = false;
      const encode = (): Uint8Array => jsonFrame(event.type, Buffer.from(tableOfObject(kind, event.stored, table)));
      return remembered(event, form, { encode, encoded: options.encoded });
    },
    errorFrame,
  };
}

function remembered(event: WatchEvent, form: string, { encode, encoded }: { encode: () => Uint8Array; encoded: () => void }): Uint8Array {
  const memo: Memo = event.memo instanceof Map ? event.memo : new Map();
  event.memo = memo;
  const before = memo.get(form);
  if (before !== undefined) return before;
  const frame = encode();
  memo.set(form, frame);
  encoded();
  return frame;
}

const errorFrame = (status: Status): Uint8Array => jsonFrame('ERROR', Buffer.from(JSON.stringify(status)));

const frameEnd = Buffer.from('}\n');

function jsonFrame(type: string, object: Uint8Array): Uint8Array {
  const start = Buffer.from(`{"type":"${type}","object":`);
  return Buffer.concat([start, object, frameEnd], start.length + object.length + frameEnd.length);
}
