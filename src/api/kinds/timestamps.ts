/** A time as objects carry it, to the second: '2026-01-31T12:00:00Z'. `now`: milliseconds since 1970. */
export const timestamp = (now: number): string => `${new Date(now).toISOString().slice(0, 19)}Z`;
