/** Properties of standard output. */
export interface Terminal {
  readonly colour: boolean;
  readonly width: number;
}

/** Colours only on a terminal, and not with NO_COLOR (https://no-color.org). `width`: without a terminal. */
export function terminal(width: number): Terminal {
  const { isTTY, columns } = process.stdout;
  const colour = isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb';
  return { colour, width: isTTY ? columns : width };
}
