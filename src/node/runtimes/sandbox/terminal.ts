/** The program in a terminal of its own, by script(1). */
export const inTerminal = (program: readonly string[]): readonly string[] => ['script', '-qefc', `exec ${program.map(quote).join(' ')}`, '/dev/null'];

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
