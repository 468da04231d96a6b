import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { AuditBackend } from '../../apiserver/audit/audit-log.ts';
import { Auditor } from '../../apiserver/audit/auditor.ts';
import { readAuditPolicy } from '../../apiserver/audit/read-policy.ts';
import { RotatingFile } from '../../apiserver/audit/rotating-file.ts';
import type { Metrics } from '../../apiserver/metrics/metrics.ts';
import type { World } from '../../world/world.ts';
import { realDisk } from '../../host/disk.ts';
import { type AuditOptions, defaultMaxSize } from './audit-options.ts';

/** @throws ConfigFileError, and what reading and opening files throws */
export async function startAuditor(options: AuditOptions, { world, metrics }: { world: World; metrics: Metrics }): Promise<Auditor> {
  const { value: policy, warnings } = readAuditPolicy({ name: options.policyFile, bytes: await readFile(options.policyFile) });
  for (const warning of warnings) world.log.warn('the audit policy has a part without effect', { file: options.policyFile, warning });
  const counters = {
    events: metrics.counter('apiserver_audit_event_total', 'Audit events written'),
    errors: metrics.counter('apiserver_audit_error_total', 'Audit events lost', ['plugin']),
  };
  return new Auditor({ policy, destination: await destinationOf(options, world), world, counters });
}

async function destinationOf(options: AuditOptions, { clock }: World): Promise<AuditBackend> {
  if (options.logPath === '-') return standardOutput;
  const { maxSize = 0, maxBackups = 0, maxAge: maxAgeDays = 0 } = options;
  const { dir: directory, name, ext: extension } = path.parse(options.logPath);
  const maxBytes = (maxSize || defaultMaxSize) * 1024 * 1024;
  return RotatingFile.open({ directory, name, extension, disk: realDisk, clock, maxBytes, maxBackups, maxAgeDays });
}

const standardOutput: AuditBackend = {
  write: (lines) => new Promise((resolve, reject) => void process.stdout.write(lines, (error) => (error ? reject(error) : resolve()))),
  close: () => Promise.resolve(),
};
