import type { ASTNode } from '@marcbachmann/cel-js';
import { nodesOf, type RuntimeNode } from './metered.ts';

/** `self.spec.size`: fields of a variable, by their names in the expression. */
export interface FieldChain {
  readonly variable: string;
  readonly names: readonly string[];
  /** The offset of the dot before the last name. */
  readonly dot: number;
}

interface Access extends RuntimeNode {
  readonly args: [RuntimeNode & { readonly end: number }, string];
}

const isAccess = (node: RuntimeNode): node is Access => node.op === '.' || node.op === '.?';

/** The fields that an expression selects directly, not through a list or a call. */
export function fieldChains(ast: ASTNode): readonly FieldChain[] {
  return [...nodesOf(ast as unknown as RuntimeNode)].flatMap((node) => {
    const chain = isAccess(node) ? chainOf(node) : undefined;
    return chain === undefined ? [] : [chain];
  });
}

function chainOf(last: Access): FieldChain | undefined {
  const names: string[] = [];
  let node: RuntimeNode = last;
  while (isAccess(node)) {
    names.unshift(node.args[1]);
    [node] = node.args;
  }
  if (node.op !== 'id' || typeof node.args !== 'string') return undefined;
  return { variable: node.args, names, dot: last.args[0].end };
}
