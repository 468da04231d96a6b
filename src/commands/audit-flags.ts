import path from 'node:path';
import { type AuditOptions, defaultMaxSize } from '../cluster/apiserver/audit-options.ts';
import { type Flag, type FlagValues, UsageError } from './command.ts';
import { privatePath } from './private-path.ts';
import { wholeNumber } from './shared-flags.ts';

export const auditFlags: readonly Flag[] = [
  {
    name: 'audit-policy-file',
    value: 'FILE',
    about: 'a Policy of audit.k8s.io/v1: which requests are logged, at which level',
    default: 'no audit log',
  },
  { name: 'audit-log-path', value: 'FILE', about: 'the audit log, as lines of JSON; "-" is standard output' },
  { name: 'audit-log-maxsize', value: 'MB', about: 'the size in megabytes at which the log is rotated', default: String(defaultMaxSize) },
  { name: 'audit-log-maxbackup', value: 'N', about: 'how many rotated logs are kept', default: 'all' },
  { name: 'audit-log-maxage', value: 'DAYS', about: 'how many days a rotated log is kept', default: 'no limit' },
];

/** @throws UsageError */
export function auditOptions(flags: FlagValues): AuditOptions | undefined {
  const [policyFile, logPath] = [flags.text('audit-policy-file'), flags.text('audit-log-path')];
  const [maxSize, maxBackups, maxAge] = ['audit-log-maxsize', 'audit-log-maxbackup', 'audit-log-maxage'].map((name) => wholeNumber(flags, name));
  if ([policyFile, logPath, maxSize, maxBackups, maxAge].every((each) => each === undefined)) return undefined;
  if (policyFile === undefined) throw new UsageError('--audit-log-path needs --audit-policy-file: without a policy no request is logged');
  if (logPath === undefined) throw new UsageError('--audit-policy-file needs --audit-log-path: the file of the audit log');
  return { policyFile: path.resolve(policyFile), logPath: logPath === '-' ? logPath : privatePath('audit-log-path', logPath), maxSize, maxBackups, maxAge };
}
