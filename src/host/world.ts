import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isatty } from 'node:tty';
import type { Logger } from 'pino';
import type { Cancel, Log, LogFields, World } from '../world/world.ts';
import { textLog } from './text-log.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface RealWorldOptions {
  readonly logLevel?: LogLevel;
  /** The file descriptor of log lines. Default: standard error. */
  readonly logTo?: number;
}

/** The World that is not simulated. */
export function createRealWorld(options: RealWorldOptions = {}): World {
  return {
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    timers: { after, soon: (callback) => void setImmediate(callback) },
    random: { float: () => Math.random(), uuid: () => randomUUID() },
    log: createLog(options.logLevel ?? 'info', options.logTo ?? 2),
  };
}

/** A longer timer (24.8 days) fires at once in Node.js: such a wait is divided. */
const longestTimeout = 2 ** 31 - 1;

function after(ms: number, callback: () => void): Cancel {
  const first = Math.min(ms, longestTimeout);
  let cancel: Cancel = () => clearTimeout(timer);
  const timer = setTimeout(() => {
    if (ms <= longestTimeout) callback();
    else cancel = after(ms - first, callback);
  }, first).unref();
  return () => cancel();
}

/** Structured lines by pino, which is loaded with the first line: a start without log lines does not pay for it. */
function createLog(level: LogLevel, fd: number): Log {
  if (level === 'silent') return silentLog;
  // What a command waits for may stand in the line of the cursor: it is erased, and comes back below.
  if (isatty(fd)) return textLog(level, (line) => void writeSync(fd, `\r\u001b[K${line}`));
  let logger: Logger | undefined;
  return logOver(() => {
    logger ??= openLogger(level, fd);
    return logger;
  }, level);
}

const levels = ['debug', 'info', 'warn', 'error'] as const;

/** Lines below the level cost nothing: their logger is not created. */
function logOver(logger: () => Logger, from: LogLevel): Log {
  const least = levels.findIndex((level) => level === from);
  const at = (level: (typeof levels)[number]) =>
    levels.indexOf(level) < least ? nothing : (message: string, fields: LogFields = {}) => logger()[level](fields, message);
  return {
    debugs: least === 0,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with(fields) {
      let child: Logger | undefined;
      return logOver(() => {
        child ??= logger().child(fields);
        return child;
      }, from);
    },
  };
}

const nothing = (): void => undefined;
const silentLog: Log = { debugs: false, debug: nothing, info: nothing, warn: nothing, error: nothing, with: () => silentLog };

const require = createRequire(import.meta.url);

function openLogger(level: LogLevel, fd: number): Logger {
  const pino = require('pino') as typeof import('pino');
  const isoTime = () => `,"time":"${new Date().toISOString()}"`;
  // Synchronous: the last lines before a crash are the ones that matter.
  return pino({ level, base: null, timestamp: isoTime, serializers: { error: pino.stdSerializers.err } }, pino.destination({ fd, sync: true }));
}
