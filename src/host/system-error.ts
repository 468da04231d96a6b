import koffi from 'koffi';
import { errorTexts } from './error-texts.ts';

/** The error of a system call, with its code: 'mount /dev/loop0 /mnt: no such device'. */
export function systemError(call: string, errno: number, args: readonly unknown[] = []): Error {
  const code = Object.entries(koffi.os.errno).find(([, number]) => number === errno)?.[0] ?? `E${errno}`;
  const words = [call, ...args.filter((arg) => typeof arg === 'string' && arg !== '')];
  return Object.assign(new Error(`${words.join(' ')}: ${errorTexts[code] ?? code}`), { code });
}
