import { closeSync } from 'node:fs';
import koffi from 'koffi';
import type { InitLauncher, InitProcess } from '../../node/runtimes/sandbox/init/launcher.ts';
import { systemError } from '../system-error.ts';
import { anonymousFile } from './anonymous-file.ts';
import { assemble } from './assemble.ts';
import { spawnProcess } from './spawned-process.ts';
import type { InitArchitecture } from './system-calls.ts';

const library = koffi.load(null);
const systemCall = library.func('long syscall(long number, long first, long second, long third)');
/** The same on every architecture. */
const numbers = { pidfdOpen: 434, closeRange: 436 } as const;

/** @throws on an architecture that no init can be made for */
export function realInitLauncher(): InitLauncher {
  const architecture = architectureOf(process.arch);
  return {
    launch: (program, options): InitProcess => {
      const { file, stepAt } = assemble(program, architecture);
      const executable = anonymousFile(file);
      try {
        return { child: spawnProcess(executable, options), stepAt };
      } finally {
        closeSync(executable);
      }
    },
    openProcess(pid) {
      const descriptor = systemCall(numbers.pidfdOpen, pid, 0, 0) as number;
      return descriptor < 0 ? undefined : descriptor;
    },
  };
}

function architectureOf(architecture: string): InitArchitecture {
  if (architecture === 'x64' || architecture === 'arm64') return architecture;
  throw new Error(`containers need x64 or arm64, this is ${architecture}`);
}

/** Programs that this process starts inherit no descriptor that it inherited itself. Linux before 5.11 has no such call. */
export function keepInheritedDescriptors(): void {
  const [firstAfterStandard, all, closeOnExec] = [3, 0xffff_ffff, 4];
  if ((systemCall(numbers.closeRange, firstAfterStandard, all, closeOnExec) as number) !== 0) throw systemError('close_range', koffi.errno());
}
