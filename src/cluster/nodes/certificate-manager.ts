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
  /** Undefined: none yet. */
  readonly current: KeyAndCertificate | undefined;
  /** @throws Error if the request fails: it is retried later */
  readonly request: () => Promise<KeyAndCertificate>;
  /** Called with each new certificate. */
  readonly onRenewed: (fresh: KeyAndCertificate) => void;
  /** The fraction of a certificate's lifetime after which it is renewed. Default: the kubelet's. */
  readonly renewAt?: () => number;
}

/** The first and the longest delay after a failure. */
const retryMs = { first: 60_000, longest: 30 * 60_000 };
/** Node.js timers are limited to 24.8 days. */
const longestTimerMs = 24 * 60 * 60 * 1000;

/**
 * Requests a new certificate when 70 to 90 % of the lifetime of the last one has passed, at a random moment, so that nodes that joined together do
 * not all renew together (client-go/util/certificate/certificate_manager.go). A failed request is retried. Returns a function that stops it.
 */
export function startCertificateManager(options: CertificateManagerOptions): Cancel {
  const { world, whose, request: ask, onRenewed: renewed, renewAt = () => 0.7 + 0.2 * world.random.float() } = options;
  let cancel: Cancel = () => undefined;
  let isStopped = false;
  let delayMs = retryMs.first;
  const waitUntil = (time: number): void => {
    const ms = Math.max(time - world.clock.now(), 0);
    if (isStopped) return;
    cancel = ms > longestTimerMs ? world.timers.after(longestTimerMs, () => waitUntil(time)) : world.timers.after(ms, () => void renew());
  };
  const renew = async (): Promise<void> => {
    try {
      const fresh = await ask();
      if (isStopped) return;
      delayMs = retryMs.first;
      renewed(fresh);
      world.log.info('a certificate was issued', { whose, until: new X509Certificate(fresh.certificate).validTo });
      waitUntil(dueTime(fresh, renewAt()));
    } catch (error) {
      if (isStopped) return;
      world.log.warn('cannot get a certificate', { whose, error: error instanceof Error ? error.message : String(error) });
      waitUntil(world.clock.now() + delayMs);
      delayMs = Math.min(2 * delayMs, retryMs.longest);
    }
  };
  waitUntil(options.current === undefined ? world.clock.now() : dueTime(options.current, renewAt()));
  return () => {
    isStopped = true;
    cancel();
  };
}

function dueTime({ certificate }: KeyAndCertificate, part: number): number {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return from + (to - from) * part;
}
