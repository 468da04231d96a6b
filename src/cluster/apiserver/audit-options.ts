import path from 'node:path';
import { type Flag, type FlagValues, UsageError } from '../../commands/command.ts';

/** What is written down of requests, and where. */
export interface AuditOptions {
  /** A Policy of audit.k8s.io/v1, in YAML or JSON. */
  readonly policyFile: string;
  /** '-': standard output. */
  readonly logPath: string;
  /** A file of so many megabytes is put aside. 100 unless said. */
  readonly maxSize?: number;
  /** So many files put aside are kept. All unless said. */
  readonly maxBackups?: number;
  /** For so many days. For ever unless said. */
  readonly maxAge?: number;
}

export const defaultMaxSize = 100;

export const auditFlags: readonly Flag[] = [
  {
    name: 'audit-policy-file',
    value: 'FILE',
    about: 'a Policy of audit.k8s.io/v1: which requests are written down, and how much of them',
    default: 'none are',
  },
  { name: 'audit-log-path', value: 'FILE', about: 'where they are written down, as lines of JSON; "-" is standard output' },
  { name: 'audit-log-maxsize', value: 'MB', about: 'a log of so many megabytes is put aside', default: String(defaultMaxSize) },
  { name: 'audit-log-maxbackup', value: 'N', about: 'how many logs put aside are kept', default: 'all' },
  { name: 'audit-log-maxage', value: 'DAYS', about: 'for how long', default: 'for ever' },
];

/** @throws UsageError */
export function auditOptions(flags: FlagValues): AuditOptions | undefined {
  const [policyFile, logPath] = [flags.text('audit-policy-file'), flags.text('audit-log-path')];
  const bounds = {
    ...numberOf(flags, 'audit-log-maxsize', 'maxSize'),
    ...numberOf(flags, 'audit-log-maxbackup', 'maxBackups'),
    ...numberOf(flags, 'audit-log-maxage', 'maxAge'),
  };
  if (policyFile === undefined && logPath === undefined && Object.keys(bounds).length === 0) return undefined;
  if (policyFile === undefined) throw new UsageError('--audit-log-path wants --audit-policy-file: without a policy nothing would be written down');
  if (logPath === undefined) throw new UsageError('--audit-policy-file wants --audit-log-path: where to write down what the policy asks for');
  return { policyFile: path.resolve(policyFile), logPath: logPath === '-' ? logPath : path.resolve(logPath), ...bounds };
}

function numberOf<K extends string>(flags: FlagValues, name: string, key: K): Partial<Record<K, number>> {
  const text = flags.text(name);
  if (text === undefined) return {};
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} wants a whole number, not "${text}"`);
  return { [key]: Number(text) } as Record<K, number>;
}
