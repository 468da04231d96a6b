/** Which requests are logged, and where. */
export interface AuditOptions {
  /** A Policy of audit.k8s.io/v1, in YAML or JSON. */
  readonly policyFile: string;
  /** '-': standard output. */
  readonly logPath: string;
  /** In megabytes: a log of this size is rotated. Default 100. */
  readonly maxSize?: number | undefined;
  /** How many rotated logs are kept. Default: all. */
  readonly maxBackups?: number | undefined;
  /** How many days a rotated log is kept. Default: no limit. */
  readonly maxAge?: number | undefined;
}

export const defaultMaxSize = 100;
