/** What standard output is. */
export interface Terminal {
  readonly colour: boolean;
  readonly width: number;
}

/** Colours only where somebody sees them, and has not asked for none (https://no-color.org). `width`: where there is no terminal. */
export function terminal(width: number): Terminal {
  const { isTTY, columns } = process.stdout;
  const colour = isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb';
  return { colour, width: isTTY ? columns : width };
}
