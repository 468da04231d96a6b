/** format.dns1123Label().validate('…'), as Kubernetes adds it to the language (v1.36.4: apiserver/pkg/cel/library/format.go). */
import type { Environment } from '@marcbachmann/cel-js';
import { hasFormat } from '../validation/openapi-formats.ts';
import { dns1035LabelProblems, labelKeyProblems, labelValueProblems, maskTrailingDash, nameIsDnsLabel, nameIsDnsSubdomain } from '../validation/names.ts';
import { parseUrl } from './urls.ts';

type Problems = (text: string) => readonly string[];

class CelFormat {
  readonly problems: Problems;
  constructor(problems: Problems) {
    this.problems = problems;
  }
}

/** The value of `format`. */
class FormatLibrary {
  named(name: string): CelFormat | undefined {
    return formats.get(name);
  }
}

const known =
  (format: string, problem: string): Problems =>
  (text) =>
    hasFormat(text, format) ? [] : [problem];

const formats: ReadonlyMap<string, CelFormat> = new Map(
  Object.entries({
    dns1123Label: (text: string) => nameIsDnsLabel(text, false),
    dns1123Subdomain: (text: string) => nameIsDnsSubdomain(text, false),
    dns1035Label: dns1035LabelProblems,
    qualifiedName: labelKeyProblems,
    dns1123LabelPrefix: (text: string) => nameIsDnsLabel(text, true),
    dns1123SubdomainPrefix: (text: string) => nameIsDnsSubdomain(text, true),
    dns1035LabelPrefix: (text: string) => dns1035LabelProblems(maskTrailingDash(text)),
    labelValue: labelValueProblems,
    uri: (text: string) => {
      const parts = parseUrl(text);
      return typeof parts === 'string' ? [`parse ${JSON.stringify(text)}: ${parts}`] : [];
    },
    uuid: known('uuid', 'does not match the UUID format'),
    byte: known('byte', 'invalid base64'),
    date: known('date', 'invalid date'),
    datetime: known('datetime', 'invalid datetime'),
  } satisfies Record<string, Problems>).map(([name, problems]) => [name, new CelFormat(problems)]),
);

/** `optional`: of undefined, an empty one. */
export function registerNamedFormats(environment: Environment, optional: (value: unknown) => unknown): void {
  const [type, library] = ['kubernetes.NamedFormat', 'kubernetes.FormatLibrary'];
  environment
    .registerType(type, { ctor: CelFormat, fields: {} })
    .registerType(library, { ctor: FormatLibrary, fields: {} })
    .registerConstant('format', library, new FormatLibrary())
    .registerFunction(`${library}.named(string): optional<${type}>`, (all: FormatLibrary, name: string) => optional(all.named(name)))
    .registerFunction(`${type}.validate(string): optional<list<string>>`, ({ problems }: CelFormat, text: string) => {
      const found = problems(text);
      return optional(found.length === 0 ? undefined : found);
    });
  for (const [name, format] of formats) environment.registerFunction(`${library}.${name}(): ${type}`, () => format);
}
