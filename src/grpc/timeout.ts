const msOfUnit: Readonly<Record<string, number>> = { n: 1e-6, u: 1e-3, m: 1, S: 1_000, M: 60_000, H: 3_600_000 };

/** The value of `grpc-timeout`: at most 8 digits and a unit. Never less than `ms`, as far as the format reaches. */
export function formatTimeout(ms: number): string {
  for (const unit of ['m', 'S', 'M']) {
    const amount = Math.ceil(ms / (msOfUnit[unit] ?? 1));
    if (amount < 1e8) return `${amount}${unit}`;
  }
  return `${Math.min(Math.ceil(ms / 3_600_000), 99_999_999)}H`;
}

/** Milliseconds; undefined: the value is malformed. */
export function parseTimeout(value: string): number | undefined {
  const [, amount, unit] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  return Number(amount) * (msOfUnit[unit] ?? 1);
}
