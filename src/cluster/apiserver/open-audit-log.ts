import type { Auditor } from '../../apiserver/audit/auditor.ts';
import type { Metrics } from '../../apiserver/metrics/metrics.ts';
import type { World } from '../../world/world.ts';
import type { CleanupStack } from '../cleanup-stack.ts';
import type { AuditOptions } from './audit-options.ts';

/** Loaded only if enabled. It is closed last, so that it logs every request until then. */
export async function openAuditLog(
  options: AuditOptions | undefined,
  { world, metrics, cleanup }: { readonly world: World; readonly metrics: Metrics; readonly cleanup: CleanupStack },
): Promise<Auditor | undefined> {
  if (options === undefined) return undefined;
  const { startAuditor } = await import('./auditor.ts');
  const auditor = await startAuditor(options, { world, metrics });
  cleanup.defer(() => auditor.stop());
  return auditor;
}
