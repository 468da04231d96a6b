/** Expressions in configurations: each must be readable, and of the type that is asked for. */
import { type ExpressionScope, loadedExpressions } from '../../admission/expressions.ts';
import { duplicate, type FieldError, invalid, required, tooMany } from '../../field-error.ts';
import type { MatchCondition } from '../../generated/types.ts';
import { validateLabelName } from '../../validation/labels.ts';

const MAX_CONDITIONS = 64;

/** `types`: those that an expression may have; none: any. */
export function validateExpression(
  text: string,
  known: ExpressionScope,
  { types, field }: { readonly types: readonly string[]; readonly field: string },
): FieldError[] {
  const expressions = loadedExpressions();
  if (expressions === undefined) return [{ type: 'InternalError', field, detail: 'expressions cannot be checked yet' }];
  const compilation = expressions.compile(text, known);
  if (!compilation.ok) return [invalid(field, text, `compilation failed: ${compilation.error.message}`)];
  const { type } = compilation.compiled;
  if (types.length === 0 || types.includes(type)) return [];
  const wanted = types.length === 1 ? (types[0] ?? '') : `one of [${types.join(' ')}]`;
  return [invalid(field, text, `must evaluate to ${wanted} but got ${type}`)];
}

export function validateMatchConditions(conditions: readonly MatchCondition[] | undefined, known: ExpressionScope, field: string): FieldError[] {
  const given = conditions ?? [];
  const errors: FieldError[] = given.length > MAX_CONDITIONS ? [tooMany(field, given.length, MAX_CONDITIONS)] : [];
  const seen = new Set<string>();
  for (const [i, { name, expression }] of given.entries()) {
    const at = `${field}[${i}]`;
    const text = expression.trim();
    if (text === '') errors.push(required(`${at}.expression`));
    else errors.push(...validateExpression(text, known, { types: ['bool'], field: `${at}.expression` }));
    if (name === '') errors.push(required(`${at}.name`));
    else errors.push(...validateLabelName(name, `${at}.name`));
    if (seen.has(name)) errors.push(duplicate(`${at}.name`, name));
    if (name !== '') seen.add(name);
  }
  return errors;
}
