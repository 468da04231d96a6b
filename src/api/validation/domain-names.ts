import { type FieldError, invalid, required } from '../field-error.ts';
import { httpPathProblem } from './formats.ts';
import { dnsLabelProblems, dnsSubdomainProblems, labelKeyProblems } from './names.ts';

/** 'www.example.com', also with a dot at its end. */
export function validateFullyQualifiedDomainName(name: string, field: string): FieldError[] {
  if (name === '') return [required(field)];
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  const problems = dnsSubdomainProblems(bare);
  if (problems.length > 0) return [invalid(field, bare, problems.join(','))];
  const labels = bare.split('.');
  if (labels.length < 2) return [invalid(field, bare, 'should be a domain with at least two segments separated by dots')];
  const wrong = labels.find((label) => dnsLabelProblems(label).length > 0);
  return wrong === undefined ? [] : [invalid(field, wrong, dnsLabelProblems(wrong).join(','))];
}

/** 'acme.io/foo': a domain and a path below it. */
export function validateDomainPrefixedPath(text: string, field: string): FieldError[] {
  if (text === '') return [required(field)];
  const slash = text.indexOf('/');
  if (slash <= 0 || slash === text.length - 1) return [invalid(field, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const [host, path] = [text.slice(0, slash), text.slice(slash + 1)];
  const problem = httpPathProblem(path);
  return [...dnsSubdomainProblems(host).map((wrong) => invalid(field, host, wrong)), ...(problem === undefined ? [] : [invalid(field, path, problem)])];
}

/** 'acme.io/foo' as a key. */
export function validateDomainPrefixedKey(key: string, field: string): FieldError[] {
  if (key === '') return [required(field)];
  const errors = labelKeyProblems(key).map((wrong) => invalid(field, key, wrong));
  if (errors.length > 0 || key.includes('/')) return errors;
  return [invalid(field, key, 'must be a domain-prefixed key (such as "acme.io/foo")')];
}
