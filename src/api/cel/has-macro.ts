import type { ASTNode } from '@marcbachmann/cel-js';
import { nodesOf, type RuntimeNode } from './metered.ts';

/** What cel-js keeps of a call of `has`. */
interface HasMacro {
  readonly args: readonly RuntimeNode[];
  /** The field accesses, the outermost first, and behind them what they begin with. */
  macroHasProps?: readonly RuntimeNode[];
  typeCheck: (checker: Checker, macro: HasMacro, context: unknown) => unknown;
}

interface Checker {
  check(node: RuntimeNode, context: unknown): unknown;
  getType(name: string): unknown;
}

/** `has(list[0].field)`: in CEL any expression may have the field, in cel-js only a variable. To be called before the check. */
export function allowAnyOperandOfHas(ast: ASTNode): void {
  for (const node of nodesOf(ast as unknown as RuntimeNode)) {
    if (node.op !== 'call' || !Array.isArray(node.args) || node.args[0] !== 'has') continue;
    const macro = node.meta.macro as HasMacro | undefined;
    const fields = macro?.args[0] === undefined ? [] : fieldsOf(macro.args[0]);
    const base = fields.at(-1);
    // Without a field, or of a variable: cel-js refuses the first and checks the second.
    if (macro === undefined || base === undefined || fields.length < 2 || base.op === 'id') continue;
    macro.typeCheck = (checker, checked, context) => {
      checker.check(base, context);
      checked.macroHasProps = fields;
      return checker.getType('bool');
    };
  }
}

function fieldsOf(outermost: RuntimeNode): RuntimeNode[] {
  const found = [outermost];
  for (let node = outermost; node.op === '.' || node.op === '.?'; ) {
    const [operand] = node.args as readonly RuntimeNode[];
    if (operand === undefined) break;
    found.push(operand);
    node = operand;
  }
  return found;
}
