import { describe, expect, test } from 'vitest';
import { formatFieldSelector, matchesFields, parseFieldSelector, requiredValue } from './field-selector.ts';
import { formatLabelSelector, labelSelectorOf, matchesLabels, parseLabelSelector, SelectorError } from './label-selector.ts';

describe('label selectors', () => {
  const labels = { app: 'web', tier: 'front', in: 'notin', count: '7', empty: '' };

  test.each([
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app = web , tier != back', true],
    ['app!=web', false],
    ['missing!=web', true],
    ['app in (web, db)', true],
    ['app notin (web)', false],
    ['missing notin (web)', true],
    ['missing in ()', false],
    ['empty in ()', true],
    ['empty=', true],
    ['empty', true],
    ['!empty', false],
    ['!missing,app', true],
    ['in=notin', true],
    ['in in (in,notin)', true],
    ['empty in (,x)', true],
    ['empty in (x,)', true],
    ['count>6,count<8', true],
    ['count>7', false],
    ['app>1', false],
    ['toString', false],
    ['constructor=x', false],
  ])('%j matches: %s', (text, expected) => {
    const selector = parseLabelSelector(text);
    expect(matchesLabels(selector, labels)).toBe(expected);
    expect(matchesLabels(parseLabelSelector(formatLabelSelector(selector)), labels)).toBe(expected);
  });

  test.each([
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b,', "found '', expected: identifier after ','"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    [',a', "found ',', expected: !, identifier, or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a=(', "unable to parse requirement: found '(', expected: identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a>x', `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`],
  ])('%j is not understood', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(new SelectorError(message));
  });

  test('bad keys and values are named', () => {
    expect(() => parseLabelSelector('-bad=x')).toThrow(/^unable to parse requirement: <nil>: Invalid value: "-bad": name part must consist of/);
    expect(() => parseLabelSelector('a=-')).toThrow(/^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-": a valid label must be/);
  });

  test('the object form says the same; absent selects nothing, empty everything', () => {
    expect(matchesLabels(labelSelectorOf(undefined), labels)).toBe(false);
    expect(matchesLabels(labelSelectorOf({}), undefined)).toBe(true);
    const selector = labelSelectorOf({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['front', 'back'] },
        { key: 'gone', operator: 'DoesNotExist' },
        { key: 'count', operator: 'Exists' },
        { key: 'app', operator: 'NotIn', values: ['db'] },
      ],
    });
    expect(matchesLabels(selector, labels)).toBe(true);
    expect(formatLabelSelector(selector)).toBe('app=web,app notin (db),count,!gone,tier in (back,front)');
    expect(() => labelSelectorOf({ matchExpressions: [{ key: 'a', operator: 'Near' }] })).toThrow('"Near" is not a valid label selector operator');
    expect(() => labelSelectorOf({ matchExpressions: [{ key: 'a', operator: 'In' }] })).toThrow(
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    );
  });
});

describe('field selectors', () => {
  const read = (field: string) => ({ 'metadata.name': 'a', 'spec.odd': 'x=y,\\z' })[field] ?? '';

  test.each([
    ['metadata.name=a', true],
    ['metadata.name==a,', true],
    ['metadata.name!=a', false],
    ['spec.none=', true],
    ['spec.none!=b', true],
    ['spec.odd=x\\=y\\,\\\\z,metadata.name=a', true],
  ])('%j matches: %s', (text, expected) => {
    const selector = parseFieldSelector(text);
    expect(matchesFields(selector, read)).toBe(expected);
    expect(parseFieldSelector(formatFieldSelector(selector))).toEqual(selector);
  });

  test.each([
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('%j is not understood', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(new SelectorError(message));
  });

  test('only an equality requires a value', () => {
    expect(requiredValue(parseFieldSelector('a!=b,c=d'), 'c')).toBe('d');
    expect(requiredValue(parseFieldSelector('a!=b,c=d'), 'a')).toBeUndefined();
  });
});
