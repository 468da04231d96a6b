/** Reads and checks a file for `moor simulate`; docs/SIMULATE.md describes it. */
import type { Kind } from '../../../api/kind.ts';
import { scenarioKind, scenarioKinds } from './scenario-kinds.ts';
import type { KubeObject } from '../../../api/object.ts';
import { nearestName } from '../../../api/nearest-name.ts';
import { type Expectation, readExpectation } from './expectation.ts';
import { type ScriptStep, scriptSteps } from './script-step.ts';
import { durationOf, formatDuration } from './duration.ts';
import { ScenarioFileError, type LocatedYaml, readYaml } from './located-yaml.ts';
import { readCluster } from './read-cluster.ts';
import { phrased } from './read-values.ts';
import { nameOf } from '../../../why/timeline/object-name.ts';
import { parseReference } from './reference.ts';
import type { Manifest, Scenario, ScriptEntry } from './scenario.ts';

export interface ReadOptions {
  /** The file's name, for messages. */
  readonly file: string;
  readonly text: string;
  /** The text of a file that this one names. @throws Error with the reason */
  readonly open: (name: string) => string;
  /** The nodes are those of a real cluster. */
  readonly fromCluster?: boolean;
}

/** The time after the last step or expectation. */
const afterwardsMs = 120_000;
const longestMs = 30 * 86_400_000;

/** @throws ScenarioFileError */
export function readScenario(options: ReadOptions): Scenario {
  const documents = readYaml(options.file, options.text);
  const [scenario, another] = documents.filter((document) => !isManifest(document));
  if (another !== undefined) throw another.error('a file has one document with sections; the others are objects, with apiVersion and kind');
  if (documents.length === 0) throw new ScenarioFileError({ file: options.file, line: 1, column: 1 }, 'the file is empty');
  const fields = scenario?.fields(['cluster', 'files', 'objects', 'script', 'expect', 'for', 'seed']) ?? {};
  const { plan, classes } = readCluster(fields.cluster, options.fromCluster ?? false);
  const script = fields.script?.items().map((entry) => readEntry(entry, options)) ?? [];
  const expectations = fields.expect?.items().map(readExpected) ?? [];
  const objects = [
    ...classes,
    ...(fields.files?.items().flatMap((file) => manifestsIn(file, options)) ?? []),
    ...(fields.objects?.items().map(readManifest) ?? []),
    ...documents.filter(isManifest).map(readManifest),
  ];
  const lastsMs = fields.for === undefined ? usualEnd(script, expectations) : timeIn(fields.for);
  if (lastsMs > longestMs) throw (fields.for ?? scenario)?.error('a simulation lasts at most 30d') ?? new Error('too long');
  checkTimes({ lastsMs, script, expectations });
  return {
    cluster: plan,
    objects,
    script: script.sort((a, b) => a.atMs - b.atMs),
    expectations,
    lastsMs,
    seed: fields.seed?.integer(0, 2 ** 32 - 1) ?? 1,
  };
}

const isManifest = (document: LocatedYaml): boolean => {
  const { value } = document;
  return value !== null && typeof value === 'object' && 'apiVersion' in value && 'kind' in value;
};

const timeIn = (written: LocatedYaml): number => phrased(written, () => durationOf(written.text()));

function usualEnd(script: readonly ScriptEntry[], expected: readonly Expectation[]): number {
  const ends = script.map(({ atMs, step }) => atMs + ('forMs' in step ? (step.forMs ?? 0) : 0));
  return Math.max(0, ...ends, ...expected.map(({ when }) => latest(when))) + afterwardsMs;
}

function latest(when: Expectation['when']): number {
  switch (when.type) {
    case 'at':
    case 'by':
      return when.ms;
    case 'always':
    case 'never':
      return Math.max(when.fromMs, when.toMs ?? 0);
    case 'end':
      return 0;
  }
}

/** A step or expectation after the end would never be used. */
function checkTimes({ lastsMs, script, expectations }: Pick<Scenario, 'lastsMs' | 'script' | 'expectations'>): void {
  const late = script.find(({ atMs }) => atMs > lastsMs) ?? expectations.find(({ when }) => latest(when) > lastsMs);
  if (late !== undefined) throw late.written.error(`that is after the end, which is at ${formatDuration(lastsMs)} ("for")`);
}

/** 'at 8m pvc/data is Bound', {at: 8m, that: pvc/data is Bound}, {'at 8m': pvc/data is Bound} */
function readExpected(written: LocatedYaml): Expectation {
  const read = (text: string): Expectation => ({ ...phrased(written, () => readExpectation(text)), written });
  if (!written.isMap) return read(written.text());
  const [[opening, rest] = [], more] = written.entries();
  if (opening !== undefined && rest !== undefined && more === undefined && /\s|^(?:never|always)$/.test(opening)) return read(`${opening} ${rest.text()}`);
  const { at, by, that } = written.fields(['at', 'by', 'that']);
  const when = at ?? by;
  if (that === undefined || when === undefined)
    throw written.error('the time (at or by) or the statement (that) is missing: {at: 8m, that: pvc/data is Bound}');
  return read(`${at === undefined ? 'by' : 'at'} ${when.text()} ${that.text()}`);
}

/**
 * 'at 2m node-1 dies', {at: 2m, do: node-1 dies}, {at: 2m, apply: …}, {at: 2m, patch: pvc/data, with: …}; and as YAML reads it with
 * a colon: {'at 2m': node-1 dies}, {'at 2m apply': …}, {'at 2m patch pvc/data': …}
 */
function readEntry(written: LocatedYaml, options: ReadOptions): ScriptEntry {
  if (!written.isMap) return sentence(written, written.text(), options);
  const [[opening, rest] = [], more] = written.entries();
  if (opening !== undefined && rest !== undefined && more === undefined && /^at\s/.test(opening)) return withColon(written, { opening, rest, options });
  const { at, do: what, apply, patch, with: change } = written.fields(['at', 'do', 'apply', 'patch', 'with']);
  if (at === undefined) throw written.error('the time is missing: {at: 2m, do: node-1 dies}');
  const base = { atMs: timeIn(at), written };
  if (what !== undefined) return { ...base, step: whatHappens(what, what.text(), options), text: what.text() };
  if (apply !== undefined) return { ...base, ...applied(apply) };
  if (patch === undefined || change === undefined) throw written.error('the step is missing: do, apply, or patch and with');
  return { ...base, ...patched(patch, patch.text(), change) };
}

function withColon(
  written: LocatedYaml,
  { opening, rest, options }: { readonly opening: string; readonly rest: LocatedYaml; readonly options: ReadOptions },
): ScriptEntry {
  const [, time = '', verb, object] = /^at\s+(\S+)(?:\s+(apply|patch)(?:\s+(\S.*))?)?$/.exec(opening.trim()) ?? [];
  if (verb === undefined || rest.value === null) return sentence(written, `${opening} ${rest.value === null ? '' : rest.text()}`, options);
  const base = { atMs: phrased(written, () => durationOf(time)), written };
  return { ...base, ...(verb === 'apply' ? applied(rest) : patched(written, object ?? '', rest)) };
}

type What = Pick<ScriptEntry, 'step' | 'text'>;

function applied(written: LocatedYaml): What {
  const objects = (written.isList ? written.items() : [written]).map((each) => readManifest(each).object);
  return { step: { type: 'apply', objects }, text: `apply ${objects.map(nameOf).join(', ')}` };
}

function patched(written: LocatedYaml, name: string, change: LocatedYaml): What {
  const object = phrased(written, () => parseReference(name));
  if (!change.isMap) throw change.error('a patch has fields, such as {metadata: {labels: {tier: gold}}}');
  return { step: { type: 'patch', object, patch: change.value as object }, text: `patch ${name} with ${JSON.stringify(change.value)}` };
}

function sentence(written: LocatedYaml, text: string, options: ReadOptions): ScriptEntry {
  const [, time, what] = /^\s*at\s+(\S+?),?\s+(\S[\s\S]*)$/.exec(text) ?? [];
  if (time === undefined || what === undefined) throw written.error('the time or the step is missing: "at 2m node-1 dies"');
  const atMs = phrased(written, () => durationOf(time));
  return { atMs, step: whatHappens(written, what, options), text: what.trim(), written };
}

/** `apply FILE` reads the file here; all other steps are phrases. */
function whatHappens(written: LocatedYaml, what: string, options: ReadOptions): ScriptStep {
  const [, file] = /^apply\s+(\S+)\s*$/.exec(what) ?? [];
  if (file === undefined) return phrased(written, () => scriptSteps.read(what));
  return { type: 'apply', objects: manifestsNamed(file, { ...options, written }).map(({ object }) => object) };
}

const manifestsIn = (written: LocatedYaml, options: ReadOptions): readonly Manifest[] => manifestsNamed(written.text(), { ...options, written });

function manifestsNamed(name: string, { open, written }: Pick<ReadOptions, 'open'> & { readonly written: LocatedYaml }): readonly Manifest[] {
  let text: string;
  try {
    text = open(name);
  } catch (error) {
    throw written.error(`cannot read ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return readYaml(name, text).map(readManifest);
}

/** @throws ScenarioFileError unless it is an object of a known kind */
function readManifest(written: LocatedYaml): Manifest {
  const value = written.value as Partial<KubeObject> | null;
  if (!written.isMap || typeof value?.apiVersion !== 'string' || typeof value.kind !== 'string') {
    throw written.error('an object is expected here, with apiVersion, kind and metadata');
  }
  const kind = scenarioKind(value.apiVersion, value.kind);
  if (kind === undefined) throw unknownKind(written, value.apiVersion, value.kind);
  const metadata = value.metadata ?? {};
  if (typeof metadata !== 'object') throw written.nearest('metadata').error('fields are expected here: {name: …}');
  if ((metadata.name ?? '') === '' && (metadata.generateName ?? '') === '') throw written.nearest('metadata').error(`the ${value.kind} has no name`);
  const namespace = kind.namespaced ? { namespace: metadata.namespace ?? 'default' } : {};
  return { object: { ...value, metadata: { ...metadata, ...namespace } } as KubeObject, written };
}

function unknownKind(written: LocatedYaml, apiVersion: string, name: string): ScenarioFileError {
  const sameName = scenarioKinds.find(({ kind }) => kind === name);
  if (sameName !== undefined) return written.nearest('apiVersion').error(`${name} is of ${groupVersion(sameName)}, not ${apiVersion}`);
  const near = nearestName(
    name,
    scenarioKinds.map(({ kind }) => kind),
  );
  return written.nearest('kind').error(`there is no kind "${name}"${near === undefined ? '' : `; did you mean "${near}"?`}`);
}

const groupVersion = ({ group, version }: Kind): string => (group === '' ? version : `${group}/${version}`);
