import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type AdmissionConfiguration, readAdmissionConfiguration } from '../../apiserver/admission/admission-configuration.ts';
import type { Log } from '../../world/world.ts';

/** A path in the file starts at the file's directory. @throws ConfigFileError, and what reading the files throws */
export async function loadAdmissionConfiguration(file: string | undefined, log: Log): Promise<AdmissionConfiguration | undefined> {
  if (file === undefined) return undefined;
  const read = async (name: string) => ({ name, bytes: await readFile(name) });
  const { value, warnings } = await readAdmissionConfiguration(await read(file), (other) => read(path.resolve(path.dirname(file), other)));
  for (const warning of warnings) log.warn('the admission configuration has a part without effect', { file, warning });
  return value;
}
