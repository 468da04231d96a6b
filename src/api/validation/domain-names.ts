import { type FieldError, invalid, required } from '../field-error.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from './names.ts';

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
