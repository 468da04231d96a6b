/** Values of a scenario's file. */
import type { Taint } from '../../../api/generated/types.ts';
import type { LocatedYaml } from './located-yaml.ts';
import { PhraseError } from './phrase.ts';
import { scriptSteps } from './script-step.ts';

/** As kubectl taint takes them: 'key=value:Effect'. */
export function readTaint(written: LocatedYaml): Taint {
  const made = phrased(written, () => scriptSteps.read(`taint node ${written.text()}`));
  if (made.type !== 'taint') throw written.error('this is no taint');
  return made.taint;
}

export function textsOf(written: LocatedYaml | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(written?.entries().map(([key, value]) => [key, value.text()]) ?? []);
}

/** @throws ScenarioFileError for an invalid phrase */
export function phrased<T>(written: LocatedYaml, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PhraseError)) throw error;
    throw written.error(error.message);
  }
}
