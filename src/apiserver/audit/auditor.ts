import type { World } from '../../world/world.ts';
import { type AuditBackend, AuditLog } from './audit-log.ts';
import type { AuditPolicy } from './policy.ts';
import { type AuditRequest, AuditContext } from './audit-context.ts';

/** Counted under Kubernetes' names. */
export interface AuditCounters {
  readonly events: { add(amount: number): void };
  readonly errors: { add(amount: number, plugin: string): void };
}

export interface AuditorOptions {
  readonly policy: AuditPolicy;
  readonly destination: AuditBackend;
  readonly world: World;
  readonly counters: AuditCounters;
}

export class Auditor {
  readonly #log: AuditLog;
  readonly #options: AuditorOptions;

  constructor(options: AuditorOptions) {
    this.#options = options;
    const { destination, world, counters } = options;
    this.#log = new AuditLog({ destination, world, written: (events) => counters.events.add(events), dropped: (events) => counters.errors.add(events, 'log') });
  }

  begin({ auditId = this.#options.world.random.uuid(), ...arrival }: Omit<AuditRequest, 'auditId'> & Partial<AuditRequest>): AuditContext {
    return new AuditContext({ auditId, ...arrival }, { policy: this.#options.policy, clock: this.#options.world.clock, write: this.#log.write });
  }

  stop(): Promise<void> {
    return this.#log.stop();
  }
}
