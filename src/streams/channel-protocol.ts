/**
 * Channels of a WebSocket: a message is the number of a channel and bytes of its stream. Binary, or as text: a digit, and base64
 * (v1.36.4: streaming/pkg/httpstream/wsstream).
 */

export const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

export interface ChannelProtocol {
  /** The subprotocol; '': none. */
  readonly name: string;
  /** The channel for errors carries a Status in the end. */
  readonly hasStatus: boolean;
  encode(channel: number, bytes: Buffer): Uint8Array | string;
  decode(message: Buffer): { readonly channel: number; readonly bytes: Buffer };
}

const binary = {
  encode: (channel: number, bytes: Buffer): Uint8Array => Buffer.concat([Buffer.from([channel]), bytes]),
  decode: (message: Buffer) => ({ channel: message[0] ?? channels.error, bytes: message.subarray(1) }),
};

const zero = '0'.charCodeAt(0);
const base64 = {
  encode: (channel: number, bytes: Buffer): string => String.fromCharCode(zero + channel) + bytes.toString('base64'),
  decode: (message: Buffer) => ({ channel: (message[0] ?? zero) - zero, bytes: Buffer.from(message.toString('latin1', 1), 'base64') }),
};

/** In this one a client can close standard input, and hears of failures on the channel for errors. */
export const closingProtocol: ChannelProtocol = { name: 'v5.channel.k8s.io', hasStatus: true, ...binary };

export const channelProtocols: readonly ChannelProtocol[] = [
  closingProtocol,
  { name: 'v4.channel.k8s.io', hasStatus: true, ...binary },
  { name: 'v4.base64.channel.k8s.io', hasStatus: true, ...base64 },
  { name: 'channel.k8s.io', hasStatus: false, ...binary },
  { name: 'base64.channel.k8s.io', hasStatus: false, ...base64 },
  { name: '', hasStatus: false, ...binary },
];
