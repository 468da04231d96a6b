import { quote } from './container-script.ts';

/** The program in a terminal of its own: script(1) makes one and passes everything on. */
export const inTerminal = (program: readonly string[]): readonly string[] => ['script', '-qefc', `exec ${program.map(quote).join(' ')}`, '/dev/null'];
