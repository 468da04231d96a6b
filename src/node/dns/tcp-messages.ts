/** DNS over TCP (RFC 7766): each message has its length before it. */

export function withLength(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** Takes chunks of a stream, and calls with each whole message. */
export function messageReader(onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let bytes = Buffer.alloc(0);
  return (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 2) {
      const end = 2 + bytes.readUInt16BE(0);
      if (bytes.length < end) return;
      onMessage(bytes.subarray(2, end));
      bytes = bytes.subarray(end);
    }
  };
}
