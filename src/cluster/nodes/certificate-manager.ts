import { X509Certificate } from 'node:crypto';
import type { Cancel, World } from '../../world/world.ts';

/** PEM. */
export interface KeyAndCertificate {
  readonly key: string;
  readonly certificate: string;
}

export interface CertificateManagerOptions {
  readonly world: World;
  /** For the log. */
  readonly whose: string;
  /** Undefined: there is none yet. */
  readonly current: KeyAndCertificate | undefined;
  /** @throws Error if there will be none: it is asked again later */
  readonly request: () => Promise<KeyAndCertificate>;
  /** There is another one, to be used from now on. */
  readonly onRenewed: (fresh: KeyAndCertificate) => void;
  /** How much of a certificate's time is over when the next one is asked for. As kubelets have it unless said. */
  readonly renewAt?: () => number;
}

/** The first and the longest pause after a failure. */
const retryMs = { first: 60_000, longest: 30 * 60_000 };
/** Timers cannot be longer than some weeks. */
const longestTimerMs = 24 * 60 * 60 * 1000;

/**
 * Asks for a certificate in time, as often as it takes: between seven and nine tenths of its time, each certificate at another moment, so
 * that nodes that came together do not ask together for ever (v1.36.4: client-go/util/certificate). Nothing is asked for after `cancel`.
 */
export function startCertificateManager(options: CertificateManagerOptions): Cancel {
  const { world, whose, request: ask, onRenewed: renewed, renewAt = () => 0.7 + 0.2 * world.random.float() } = options;
  let cancel: Cancel = () => undefined;
  let isOver = false;
  let pauseMs = retryMs.first;
  const waitUntil = (time: number): void => {
    const ms = Math.max(time - world.clock.now(), 0);
    if (isOver) return;
    cancel = ms > longestTimerMs ? world.timers.after(longestTimerMs, () => waitUntil(time)) : world.timers.after(ms, () => void renew());
  };
  const renew = async (): Promise<void> => {
    try {
      const fresh = await ask();
      if (isOver) return;
      pauseMs = retryMs.first;
      renewed(fresh);
      world.log.info('a certificate was issued', { whose, until: new X509Certificate(fresh.certificate).validTo });
      waitUntil(dueTime(fresh, renewAt()));
    } catch (error) {
      if (isOver) return;
      world.log.warn('cannot get a certificate', { whose, error: error instanceof Error ? error.message : String(error) });
      waitUntil(world.clock.now() + pauseMs);
      pauseMs = Math.min(2 * pauseMs, retryMs.longest);
    }
  };
  waitUntil(options.current === undefined ? world.clock.now() : dueTime(options.current, renewAt()));
  return () => {
    isOver = true;
    cancel();
  };
}

function dueTime({ certificate }: KeyAndCertificate, part: number): number {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return from + (to - from) * part;
}
